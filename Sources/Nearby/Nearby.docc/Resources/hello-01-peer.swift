import Nearby

let me = try Peer(displayName: "Anna")
print("I am \(me), \(me.id)")
