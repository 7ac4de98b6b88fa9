import Foundation
import Testing

@testable import MultipeerConnectivity

/// Some programs send an archive of all that they know of themselves with an invitation.
@Suite(.serialized) struct ContextTests {
    @Test func longContextArrivesWhole() async {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        let context = Data((0..<16_384).map { UInt8(truncatingIfNeeded: $0 * 31 >> 4) })
        await gabe.joins(jeff, context: context)
        #expect(jeff.notes.invitations.map(\.context) == [context])
        gabe.leaves()
        jeff.leaves()
    }

    @Test func contextThatIsTooLongIsToldAtOnce() async {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        gabe.session.failureHandler = { @Sendable _, error in gabe.note { $0.errors.append(error) }
        }
        gabe.browser.invitePeer(
            jeff.peer, to: gabe.session, withContext: Data(count: 16_385), timeout: 20)
        await gabe.waits { $0.states == [.notConnected] }
        #expect(gabe.notes.errors.map(\.code) == [.invalidParameter])
        gabe.leaves()
    }
}
