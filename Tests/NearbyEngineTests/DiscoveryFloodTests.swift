import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

@Suite struct DiscoveryFloodTests {
    typealias Base = DiscoveryMachineTests

    private func invented(_ index: Int) -> DiscoveryMachine.Input {
        let peer = PeerID(high: 0xffff_0000, low: UInt64(index))
        let beacon = Base.beacon(info: .empty)
        return .received(
            Base.frame(.beacon(beacon), peer: peer), from: Base.at(UInt32(index)), multicast: true)
    }

    @Test func tenThousandInventedPeersASecondHarmNoPeerInUse() {
        var machine = Base.settled(.collecting())
        let inUse = (0..<1_024).map { PeerID(high: 1, low: UInt64($0)) }
        for (index, peer) in inUse.enumerated() {
            let source = Base.at(0x0b00_0000 + UInt32(index))
            let frame = Base.frame(.beacon(Base.beacon()), peer: peer)
            _ = machine.handle(.received(frame, from: source, multicast: true), now: Base.late)
            _ = machine.handle(.inUse(peer, true), now: Base.late)
        }
        var lost: [PeerID] = []
        var outputCount = 0
        var unicastCount = 0
        for index in 0..<30_000 {
            let now = Base.late + .microseconds(100 * Int64(index))
            for output in machine.handle(invented(index), now: now) {
                outputCount += 1
                if case .lost(let peer) = output { lost.append(peer) }
                if case .unicast = output { unicastCount += 1 }
            }
            #expect(machine.peerCount <= Limits.discoveryPeersMax)
        }
        #expect(lost.allSatisfy { $0.high == 0xffff_0000 })
        #expect(lost.count <= 4 * Limits.discoveryEvictionsPerSecond)
        #expect(inUse.allSatisfy { machine.sighting(of: $0) != nil })
        #expect(unicastCount <= 4 * Limits.discoveryFramesPerSecond)
        #expect(outputCount < 40_000)
    }

    @Test func peerThatIsHeardAgainOutlastsInventedOnes() {
        var machine = Base.settled(.collecting())
        let frame = Base.frame(.beacon(Base.beacon()))
        for step in 0..<3 {
            _ = machine.handle(
                .received(frame, from: Base.at(7), multicast: true),
                now: Base.late + .milliseconds(100 * step))
        }
        var index = 0
        for second in 0..<20 {
            for step in 0..<2_000 {
                index += 1
                let now = Base.late + .seconds(second + 1) + .microseconds(500 * step)
                _ = machine.handle(invented(index), now: now)
            }
        }
        #expect(machine.sighting(of: Base.stranger) != nil)
    }

    @Test func peerThatConnectsDuringAFloodFindsRoom() {
        var machine = Base.settled(.collecting())
        for index in 0..<10_000 { _ = machine.handle(invented(index), now: Base.late) }
        _ = machine.handle(.inUse(Base.stranger, true), now: Base.late)
        let frame = Base.frame(.beacon(Base.beacon()))
        let outputs = machine.handle(
            .received(frame, from: Base.at(7), multicast: true), now: Base.late)
        let sighting = machine.sighting(of: Base.stranger)
        #expect(sighting != nil)
        #expect(outputs.contains { $0 == sighting.map { .found($0) } })
    }

    @Test func inventedNetworksNeverReachTheTable() {
        var machine = Base.settled()
        for index in 0..<10_000 {
            let peer = PeerID(high: 3, low: UInt64(index))
            let frame = Base.frame(
                .beacon(Base.beacon()), peer: peer, network: NetworkTag(value: 1))
            let outputs = machine.handle(
                .received(frame, from: Base.at(3), multicast: true), now: Base.late)
            #expect(outputs == [.drop(.beaconForeignNetwork)])
        }
        #expect(machine.peerCount == 0)
    }

    @Test func tableThatIsFullOfPeersInUseRefuses() {
        var machine = Base.settled(.collecting())
        for low in 0..<Limits.discoveryPeersMax {
            _ = machine.handle(.inUse(PeerID(high: 1, low: UInt64(low)), true), now: Base.late)
        }
        #expect(machine.handle(invented(1), now: Base.late) == [.drop(.discoveryTableFull)])
        #expect(
            machine.handle(.inUse(Base.stranger, true), now: Base.late) == [
                .drop(.discoveryTableFull)
            ])
    }
}
