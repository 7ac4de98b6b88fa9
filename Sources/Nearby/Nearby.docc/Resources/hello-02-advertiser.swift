import Nearby

let me = try Peer(displayName: "Anna")
let hello = try Service("hello")
let advertiser = try Advertiser(peer: me, service: hello)

try advertiser.start()
try await Task.sleep(for: .seconds(60))
