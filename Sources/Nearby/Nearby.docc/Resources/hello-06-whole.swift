// Joins whoever says hello nearby, says hello itself, and prints what it hears. Ends after the
// number of seconds that is given, or never.
import Glibc
import Nearby

let arguments = CommandLine.arguments
let me = try Peer(displayName: arguments.count > 1 ? arguments[1] : "somebody")
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
Task {
    for await event in session.events {
        switch event {
        case .state(let peer, .connected):
            print("\(peer) is here")
            try await session.send(Array("Hello, I am \(me)!".utf8), to: [peer])
        case .state(let peer, .notConnected): print("\(peer) is gone")
        case .message(let bytes, let peer, _):
            print("\(peer): \(String(decoding: bytes, as: UTF8.self))")
        default: break
        }
        fflush(nil)
    }
}
try advertiser.start()
try browser.start()
let seconds = arguments.count > 2 ? Int(arguments[2]) ?? 60 : 86_400
try await Task.sleep(for: .seconds(seconds))
