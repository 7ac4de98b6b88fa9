import NearbyCore
import NearbySimulator
import NearbyWire
import Testing

@testable import NearbyEngine

extension PeerChannel {
    /// An open one with a peer, without keys.
    static func fresh(
        with peer: PeerID, as role: Role = .agent, run: UInt64 = 1, token: UInt32 = 1,
        over path: Path = .link(LinkChoiceTests.wifi.endpoint), isClient: Bool = true
    ) -> PeerChannel {
        let own = SimulatedCryptography(peer: PeerID(high: 99, low: 1), seed: 1)
        let channel = PeerChannel(
            token: ChannelToken(value: token),
            key: .init(path: path, attempt: token, isClient: isClient), attemptNumber: 1,
            expectedPeer: peer, handshake: own.makeClient(now: .zero), timers: NodeTimers(),
            now: .zero)
        channel.stage = .open
        channel.peer = peer
        channel.peerTerms = .fresh(as: role, run: run)
        return channel
    }
}

extension AdmitFrame {
    fileprivate static func fresh(as role: Role, run: UInt64) -> AdmitFrame {
        AdmitFrame(
            versions: 1...1, role: role, preference: .required, hasRoute: false,
            neighbourCount: 0, run: RunID(value: run),
            proof: [UInt8](repeating: 0, count: AdmitFrame.proofByteCount), name: "",
            software: "")
    }
}

extension Association {
    static func fresh(
        with peer: PeerID, as role: Role = .agent, isClient: Bool = true,
        rekeyAt: Instant = .distantFuture
    ) -> Association {
        Association(
            .fresh(with: peer, as: role, isClient: isClient), with: peer,
            .fresh(as: role, run: 1), rekeyAt: rekeyAt, timers: NodeTimers(), now: .zero)
    }
}

struct AssociationTests {
    private let peer = PeerID(high: 1, low: 1)
    private let hop = PeerID(high: 2, low: 1)

    private func seconds(_ count: Int64) -> Instant { .zero + .seconds(count) }

    @Test func outOfReachForAMinuteItIsGivenUp() {
        let association = Association.fresh(with: peer)
        #expect(association.handle(.nextHop(nil), now: .zero) == [])
        #expect(association.nextDeadline == seconds(60))
        #expect(association.handle(.nextHop(hop), now: seconds(59)) == [])
        #expect(association.handle(.deadlineReached(isNeighbour: false), now: seconds(60)) == [])
        #expect(association.handle(.nextHop(nil), now: seconds(61)) == [])
        #expect(association.handle(.nextHop(nil), now: seconds(70)) == [])
        let outputs = association.handle(.deadlineReached(isNeighbour: false), now: seconds(121))
        #expect(outputs.contains(.giveUp))
    }

    @Test func onlyTheClientRenewsKeysAndEverMoreRarely() {
        let server = Association.fresh(with: peer, isClient: false, rekeyAt: seconds(5))
        #expect(server.handle(.deadlineReached(isNeighbour: true), now: seconds(5)) == [])
        let client = Association.fresh(with: peer, rekeyAt: seconds(5))
        for second in [5, 6, 8, 12, 16] as [Int64] {
            #expect(client.nextDeadline == seconds(second))
            #expect(
                client.handle(.deadlineReached(isNeighbour: true), now: seconds(second))
                    == [.renewKeys])
        }
    }

    @Test func wornKeysAreRenewedAtOnceAndOnce() {
        let association = Association.fresh(with: peer)
        association.keysWorn(now: seconds(3))
        #expect(association.nextDeadline == seconds(3))
        #expect(
            association.handle(.deadlineReached(isNeighbour: true), now: seconds(3))
                == [.renewKeys])
        association.keysWorn(now: seconds(3))
        #expect(association.nextDeadline == seconds(4))
    }

    @Test func aSilentPeerBehindOthersIsAskedThreeTimesAndThenGivenUp() {
        let association = Association.fresh(with: peer)
        var said: [Association.Output] = []
        for second in stride(from: 120, through: 150, by: 10) as StrideThrough<Int64> {
            said += association.handle(.deadlineReached(isNeighbour: false), now: seconds(second))
        }
        #expect(said == [.probe, .probe, .probe, .giveUp])
    }

    @Test func aSilentNeighbourIsTheHopsBusiness() {
        let association = Association.fresh(with: peer)
        for second in stride(from: 120, through: 600, by: 10) as StrideThrough<Int64> {
            #expect(
                association.handle(.deadlineReached(isNeighbour: true), now: seconds(second)) == [])
        }
    }

    @Test func aResumptionThatIsNotAnsweredFails() {
        let association = Association.fresh(with: peer)
        #expect(association.handle(.resume(attempt: 7), now: .zero) == [])
        #expect(association.resumingAttempt == 7)
        let end = Instant.zero + Limits.resumptionTime
        #expect(association.nextDeadline == end)
        #expect(
            association.handle(.deadlineReached(isNeighbour: false), now: end)
                == [.resumptionFailed(attempt: 7)])
        #expect(association.resumingAttempt == nil)
        _ = association.handle(.resume(attempt: 9), now: end)
        _ = association.handle(.abandonResumption, now: end)
        #expect(association.handle(.deadlineReached(isNeighbour: false), now: seconds(9)) == [])
    }
}
