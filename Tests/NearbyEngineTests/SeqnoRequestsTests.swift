import NearbyCore
import Testing

@testable import NearbyEngine

struct SeqnoRequestsTests {
    private let peer = RoutingNetwork.peer(1)

    @Test func aRequestIsSentOnceWhileItIsPending() {
        var requests = SeqnoRequests()
        let sent = [7, 7, 6, 8].map { requests.add(peer, seqno: $0, now: .zero) }
        #expect(sent == [true, false, false, true])
        let ofAnother = requests.add(RoutingNetwork.peer(2), seqno: 7, now: .zero)
        #expect(ofAnother)
        let end = Instant.zero + Limits.requestTime
        let later = [end - .nanoseconds(1), end].map { requests.add(peer, seqno: 7, now: $0) }
        #expect(later == [false, true])
    }

    @Test func aFullTableSendsNothingUntilSomethingEnds() {
        var requests = SeqnoRequests()
        let count = Limits.routingRequestsMax
        let sent = (0...count).map {
            requests.add(RoutingNetwork.peer($0), seqno: 1, now: .zero)
        }
        #expect(sent == Array(repeating: true, count: count) + [false])
        let newcomer = RoutingNetwork.peer(count)
        let isSent = requests.add(newcomer, seqno: 1, now: .zero + Limits.requestTime)
        #expect(isSent)
    }
}
