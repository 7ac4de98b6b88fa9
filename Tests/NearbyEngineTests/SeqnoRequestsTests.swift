import NearbyCore
import Testing

@testable import NearbyEngine

struct SeqnoRequestsTests {
    private let peer = RoutingNetwork.peer(1)
    private let asker = RoutingNetwork.peer(1_001)
    private let other = RoutingNetwork.peer(1_002)

    @Test func aRequestIsSentOnceWhileItIsPending() {
        var requests = SeqnoRequests()
        let sent = [7, 7, 6, 8].map { requests.add(peer, seqno: $0, isRouteless: true, now: .zero) }
        #expect(sent == [true, false, false, true])
        let ofAnother = requests.add(
            RoutingNetwork.peer(2), seqno: 7, isRouteless: true, now: .zero)
        #expect(ofAnother)
        let end = Instant.zero + Limits.requestTime
        let later = [end - .nanoseconds(1), end].map {
            requests.add(peer, seqno: 7, isRouteless: true, now: $0)
        }
        #expect(later == [false, true])
    }

    @Test func aRequestIsPassedOnOnceUnlessItGoesFurther() {
        var requests = SeqnoRequests()
        let sent = [(7, 60), (7, 59), (6, 60), (7, 61), (8, 10)].map { seqno, hops in
            requests.add(
                peer, seqno: seqno, hopLimit: hops, isUrgent: false, isToHopAlone: false, by: asker,
                now: .zero)
        }
        #expect(sent == [true, false, false, true, true])
    }

    /// One with a short way left, for a seqno as new as can be, keeps nobody's back.
    @Test func requestsOfOthersDoNotKeepOurOwnBack() {
        var requests = SeqnoRequests()
        let isPassedOn = requests.add(
            peer, seqno: 900, hopLimit: 1, isUrgent: false, isToHopAlone: false, by: asker,
            now: .zero)
        let isSent = requests.add(peer, seqno: 7, isRouteless: true, now: .zero)
        let isOthersPassedOn = requests.add(
            peer, seqno: 900, hopLimit: 50, isUrgent: false, isToHopAlone: false, by: other,
            now: .zero)
        #expect(isPassedOn && isSent && isOthersPassedOn)
        // What was passed on just now, and goes far, asks for us too.
        let id = RoutingNetwork.peer(2)
        let isFar = requests.add(
            id, seqno: 9, hopLimit: 60, isUrgent: false, isToHopAlone: false, by: asker, now: .zero)
        let isSentToo = requests.add(id, seqno: 7, isRouteless: true, now: .zero)
        #expect(isFar && !isSentToo)
    }

    /// The next hop may be lost, and the request with it.
    @Test func whatWentToTheNextHopAloneDoesNotAskForWhoHasNone() {
        var requests = SeqnoRequests()
        let isPassedOn = requests.add(
            peer, seqno: 9, hopLimit: 60, isUrgent: false, isToHopAlone: true, by: asker, now: .zero
        )
        let isSent = [false, true].map {
            requests.add(peer, seqno: 9, isRouteless: $0, now: .zero)
        }
        #expect(isPassedOn)
        #expect(isSent == [false, true])
    }

    @Test func aNeighbourThatAsksForEverythingHasItsShare() {
        var requests = SeqnoRequests()
        let sent = (0..<400).map {
            requests.add(
                RoutingNetwork.peer($0), seqno: 1, hopLimit: 9, isUrgent: false,
                isToHopAlone: false, by: asker,
                now: .zero)
        }
        let share = Limits.routingRequestsShare
        #expect(sent == (0..<400).map { $0 < share })
        let isPassedOn = requests.add(
            RoutingNetwork.peer(999), seqno: 1, hopLimit: 9, isUrgent: false, isToHopAlone: false,
            by: other, now: .zero)
        let isSent = requests.add(RoutingNetwork.peer(998), seqno: 1, isRouteless: true, now: .zero)
        #expect(isPassedOn && isSent)
    }

    @Test func aFullTablePassesNothingOnUntilSomethingEnds() {
        var requests = SeqnoRequests()
        let count = Limits.routingRequestsMax
        let sent = (0...count).map {
            requests.add(
                RoutingNetwork.peer($0), seqno: 1, hopLimit: 9, isUrgent: false,
                isToHopAlone: false,
                by: RoutingNetwork.peer(10_000 + $0), now: .zero)
        }
        #expect(sent == Array(repeating: true, count: count) + [false])
        let newcomer = RoutingNetwork.peer(count)
        let isSent = requests.add(
            newcomer, seqno: 1, hopLimit: 9, isUrgent: false, isToHopAlone: false, by: asker,
            now: .zero + Limits.requestTime)
        #expect(isSent)
    }

    /// Readings wait for routes to collectors, however many others were lost with them.
    @Test func urgentOnesHaveATableOfTheirOwn() {
        var requests = SeqnoRequests()
        func add(_ number: Int, isUrgent: Bool, by asker: PeerID) -> Bool {
            requests.add(
                RoutingNetwork.peer(number), seqno: 1, hopLimit: 9, isUrgent: isUrgent,
                isToHopAlone: false, by: asker,
                now: .zero)
        }
        for number in 0..<Limits.routingRequestsMax {
            _ = add(number, isUrgent: false, by: RoutingNetwork.peer(10_000 + number))
        }
        let share = Limits.routingRequestsShare
        let sent = (0...share).map { add(1_000 + $0, isUrgent: true, by: asker) }
        #expect(sent == Array(repeating: true, count: share) + [false])
        let plain = add(2_000, isUrgent: false, by: other)
        #expect(!plain)
        let most = Limits.routingRequestsMax
        let ofOthers = (0..<most).map {
            add(3_000 + $0, isUrgent: true, by: RoutingNetwork.peer(20_000 + $0))
        }
        #expect(ofOthers.count(where: { $0 }) == most - share)
    }
}
