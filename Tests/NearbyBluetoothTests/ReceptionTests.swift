import NearbyCore
import Testing

@testable import NearbyBluetooth

/// How the parts of reception play together; what each does alone is tested with it.
struct ReceptionTests {
    private static let address = BluetoothAddress(value: 7, kind: .lowEnergyRandom)
    private static let lasting = ManagementCommand.addMonitor(MonitorMachine.patterns)
    private static let passing = ManagementCommand.addMonitor([.node])

    private func up(listening: Bool = true) -> Reception {
        var reception = Reception(networkTag: 1, peerPrefix: 2, seed: 1)
        _ = reception.handle(.setMonitoring(listening), now: .zero)
        _ = reception.handle(.adapterUp, now: .zero)
        return reception
    }

    /// The first scan is over; other links suffice.
    private func content(listening: Bool) -> Reception {
        var reception = up(listening: listening)
        _ = reception.handle(.completed(.startDiscovery, .nothing), now: .zero)
        _ = reception.handle(.completed(.stopDiscovery, .nothing), now: .zero)
        _ = reception.handle(.setContent(true), now: .zero)
        return reception
    }

    @Test func theMonitorComesFirstAndRelievesScans() {
        var reception = content(listening: true)
        let first = reception.handle(.turn, now: .zero)
        #expect(first == [.send(Self.lasting)])
        _ = reception.handle(.completed(Self.lasting, .monitor(handle: 4)), now: .zero)
        let second = reception.handle(.turn, now: .zero)
        #expect(second == [])
        #expect(reception.nextScanDeadline == nil)
        #expect(reception.stopCommands == [.removeMonitor(handle: 4)])
        _ = reception.handle(.monitorRemoved(handle: 4), now: .zero)
        #expect(reception.nextScanDeadline != nil)
    }

    @Test func aPassiveScanThatIsRefusedTellsOfTheMonitorToo() {
        var reception = content(listening: false)
        let now = Instant.zero + .seconds(60)
        let scan = reception.handle(.scanTurn, now: now)
        #expect(scan == [.send(Self.passing)])
        _ = reception.handle(.refused(Self.passing, .busy), now: now)
        #expect(reception.isMonitorUnsupported)
        let next = reception.handle(.scanTurn, now: now)
        #expect(next == [.send(.startDiscovery)])
        _ = reception.handle(.setMonitoring(true), now: now)
        let turn = reception.handle(.turn, now: now)
        #expect(turn == [])
    }

    @Test func whichMonitorIsRemovedIsToldByItsHandle() {
        var reception = content(listening: false)
        let now = Instant.zero + .seconds(60)
        _ = reception.handle(.completed(Self.passing, .monitor(handle: 9)), now: now)
        _ = reception.handle(.setMonitoring(true), now: now)
        _ = reception.handle(.completed(Self.lasting, .monitor(handle: 4)), now: now)
        #expect(
            reception.stopCommands == [.removeMonitor(handle: 9), .removeMonitor(handle: 4)])
        _ = reception.handle(.completed(.removeMonitor(handle: 9), .nothing), now: now)
        #expect(reception.stopCommands == [.removeMonitor(handle: 4)])
        _ = reception.handle(.refused(.removeMonitor(handle: 4), .invalidIndex), now: now)
        #expect(reception.stopCommands == [])
    }

    @Test func whatOthersHaveSetIsNotRemovedAtTheEnd() {
        var reception = up()
        _ = reception.handle(.refused(Self.lasting, .noResources), now: .zero)
        let turn = reception.handle(.turn, now: .zero)
        #expect(turn == [.send(.removeMonitor(handle: MonitorMachine.all))])
        #expect(reception.stopCommands == [])
    }

    @Test func silenceRestartsTheMonitorAndTheScan() throws {
        var reception = up()
        _ = reception.handle(.completed(Self.lasting, .monitor(handle: 4)), now: .zero)
        let found = Reception.Input.found([2, 1, 6], from: Self.address, rssi: -60)
        let heard = reception.handle(found, now: .zero)
        #expect(heard == [.advertisement([2, 1, 6], from: Self.address, rssi: -60)])
        let next = try #require(reception.nextDeadline)
        _ = reception.handle(.completed(.startDiscovery, .nothing), now: next)
        let down = reception.handle(.deadlineReached(isUp: false), now: next)
        #expect(down == [])
        let silent = reception.handle(.deadlineReached(isUp: true), now: next)
        #expect(silent == [.receptionLost])
        let turn = reception.handle(.turn, now: next)
        #expect(turn == [.send(.removeMonitor(handle: 4))])
        let scan = reception.handle(.scanTurn, now: next)
        #expect(scan == [.send(.stopDiscovery)])
        let again = reception.handle(found, now: next)
        #expect(again.first == .receptionRestored)
    }

    @Test func aPowerCycleGoesBeforeTheMonitor() throws {
        var reception = up()
        let found = Reception.Input.found([2, 1, 6], from: Self.address, rssi: -60)
        _ = reception.handle(found, now: .zero)
        var now = Instant.zero
        for _ in 0..<3 {
            now = try #require(reception.nextDeadline)
            _ = reception.handle(.deadlineReached(isUp: true), now: now)
        }
        #expect(reception.isCycling)
        let turn = reception.handle(.turn, now: now)
        #expect(turn == [.send(.setPowered(false))])
        _ = reception.handle(.refused(.setPowered(false), .busy), now: now)
        let next = reception.handle(.turn, now: now)
        #expect(next == [.send(Self.lasting)])
    }

    @Test func nodesAreToldFromOthersAndFromThoseOfOtherNetworks() throws {
        var reception = up(listening: false)
        let own = try #require(Advertisement(networkTag: 1, psm: 0x80, peerPrefix: 2))
        let other = try #require(Advertisement(networkTag: 1, psm: 0x80, peerPrefix: 3))
        let foreign = try #require(Advertisement(networkTag: 5, psm: 0x80, peerPrefix: 4))
        var outputs: [Reception.Output] = []
        for data in [own.bytes, other.bytes, foreign.bytes, foreign.bytes, [9, 1], [2, 1, 6]] {
            outputs += reception.handle(.found(data, from: Self.address, rssi: 0), now: .zero)
        }
        let strange = Reception.Output.drop(.advertisementForeignNetwork)
        #expect(
            outputs == [
                .heard(other, from: Self.address), strange, .otherNetwork(4, Self.address), strange,
                .drop(.advertisementMalformed),
            ])
        #expect(reception.foreign.count(now: .zero) == 1)
    }
}
