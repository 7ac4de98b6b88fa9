import NearbyCore
import Testing

@testable import NearbyEngine

struct InvitationPairTests {
    /// Whoever passes a cookie can say that it is the peer.
    @Test func handshakesInThePeersNameDoNotPutOffOurInvitationForEver() throws {
        var pair = InvitationPair()
        pair.state = .nudging(until: .zero + Limits.nudgeTimeout, sentAt: .zero)
        var now = Instant.zero
        while now < .zero + Limits.nudgeTimeout * 10 {
            pair.inboundSeen(now)
            now = now + Limits.nudgeTimeout / 2
        }
        let until = try #require(pair.nextDeadline)
        #expect(until == Instant.zero + Limits.nudgeTimeout * 3)
    }
}
