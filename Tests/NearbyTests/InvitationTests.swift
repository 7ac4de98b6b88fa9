import NearbyCore
import Testing

@testable import Nearby

extension LoopbackTests {
    /// Whether those who invite wait for the answer or not, and whoever of them gives up.
    @Test func whoInvitesWhileAnInvitationIsOpenGetsItsAnswer() async throws {
        let service = try Self.service()
        let (anna, bert) = (try Program("Anna", service), try Program("Bert", service))
        defer { for program in [anna, bert] { program.stop() } }
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, _) = try await anna.find("Bert")
        try anna.browser.beginInviting(
            peer, to: anna.session, context: [], timeout: .seconds(20))
        let invitation = try await within(.seconds(10)) {
            for await invitation in bert.advertiser.invitations { return invitation }
            throw NearbyError(.unknown, "none")
        }
        try anna.browser.beginInviting(
            peer, to: anna.session, context: [], timeout: .seconds(20))
        let waiting = (0..<3).map { _ in
            Task { await failure { try await anna.browser.invite(peer, to: anna.session) } }
        }
        waiting[2].cancel()
        #expect(await waiting[2].value?.code == .cancelled)
        try invitation.accept(with: bert.session)
        let errors = try await within(.seconds(10)) {
            (await waiting[0].value, await waiting[1].value)
        }
        #expect(errors.0 == nil && errors.1 == nil)
        let states = try await within(.seconds(10)) {
            var states: [Session.State] = []
            for await event in anna.session.events {
                if case .state(_, let state) = event { states.append(state) }
                if case .failure(_, let error) = event { throw error }
                if states.last == .connected { break }
            }
            return states
        }
        #expect(states == [.connecting, .connected])
        #expect(!invitation.isWithdrawn)
    }

    /// Who has an invitation stops advertising, thinks, and then answers: with a yes, with a no.
    @Test(arguments: [true, false], [Duration.zero, .milliseconds(600)])
    func whoStopsAdvertisingCanStillAnswer(_ isAccepted: Bool, after pause: Duration) async throws {
        let service = try Self.service()
        let (anna, bert) = (try Program("Anna", service), try Program("Bert", service))
        defer { for program in [anna, bert] { program.stop() } }
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, _) = try await anna.find("Bert")
        let waiting = Task {
            await failure { try await anna.browser.invite(peer, to: anna.session) }
        }
        let invitation = try await within(.seconds(10)) {
            for await invitation in bert.advertiser.invitations { return invitation }
            throw NearbyError(.unknown, "none")
        }
        bert.advertiser.stop()
        try await Task.sleep(for: pause)
        if isAccepted { try invitation.accept(with: bert.session) } else { invitation.decline() }
        let error = try await within(.seconds(10)) { await waiting.value }
        #expect(error?.code == (isAccepted ? nil : .unavailable))
        guard isAccepted else { return }
        try await within(.seconds(10)) {
            for await event in bert.session.events {
                if case .state(_, .connected) = event { return }
            }
        }
    }
}
