import Nearby

let me = try Peer(displayName: "Anna")
let hello = try Service("hello")
let session = try Session(peer: me)
let advertiser = try Advertiser(peer: me, service: hello)
let browser = try Browser(peer: me, service: hello)

Task {
    for await invitation in advertiser.invitations { try? invitation.accept(with: session) }
}
Task {
    for await case .found(let peer, _) in browser.events {
        // Both see each other: the lower one invites.
        guard me.id.description < peer.id.description else { continue }
        Task { try await browser.invite(peer, to: session) }
    }
}
try advertiser.start()
try browser.start()
try await Task.sleep(for: .seconds(60))
