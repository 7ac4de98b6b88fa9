import Foundation
import Testing

@testable import MultipeerConnectivity

/// Some programs connect with everybody who sends them a message, whoever is connected already.
@Suite(.serialized) struct FailureWhileConnectedTests {
    @Test func attemptThatFailsLeavesWhoIsConnected() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        gabe.session.failureHandler = { @Sendable _, error in gabe.note { $0.errors.append(error) }
        }
        // One's own connection data leads to nobody else.
        let ours = try await gabe.session.nearbyConnectionData(forPeer: jeff.peer)
        gabe.session.connectPeer(jeff.peer, withNearbyConnectionData: ours)
        gabe.session.connectPeer(jeff.peer, withNearbyConnectionData: Data("no data".utf8))
        await gabe.waits { $0.errors.count == 2 }
        try gabe.session.send(Data("still here".utf8), toPeers: [jeff.peer], with: .reliable)
        await jeff.waits { $0.messages == ["still here"] }
        #expect(gabe.notes.states == [.connecting, .connected])
        #expect(gabe.session.connectedPeers == [jeff.peer])
        jeff.leaves()
        await gabe.waits { $0.states == [.connecting, .connected, .notConnected] }
        // Now it is told.
        gabe.session.connectPeer(jeff.peer, withNearbyConnectionData: ours)
        await gabe.waits { $0.states.suffix(2) == [.notConnected, .notConnected] }
        gabe.leaves()
    }
}
