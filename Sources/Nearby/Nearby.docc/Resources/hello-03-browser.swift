import Nearby

let me = try Peer(displayName: "Anna")
let hello = try Service("hello")
let advertiser = try Advertiser(peer: me, service: hello)
let browser = try Browser(peer: me, service: hello)

Task {
    for await event in browser.events {
        switch event {
        case .found(let peer, _): print("\(peer) is near")
        case .lost(let peer): print("\(peer) is gone")
        default: break
        }
    }
}
try advertiser.start()
try browser.start()
try await Task.sleep(for: .seconds(60))
