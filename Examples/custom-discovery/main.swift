// Two programs that share a folder and connect without any discovery on the network:
// `example-custom-discovery NAME FOLDER` on both.
import Foundation
import MultipeerConnectivity

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    print("usage: example-custom-discovery NAME FOLDER")
    exit(2)
}
let conversation = Conversation(name: arguments[1])
let meetingPlace = MeetingPlace(
    folder: URL(fileURLWithPath: arguments[2]), own: conversation.peerID)
do {
    try meetingPlace.leavePeerID()
    print("I am \(arguments[1]). My peer ID is in the folder; waiting for the other's.")
    let other = try meetingPlace.waitForPeerID()
    print("the other one is \(other.displayName)")
    let data = try conversation.connectionData(for: other)
    try meetingPlace.leave(data, for: other)
    print("my connection data are in the folder; waiting for the other's")
    conversation.session.connectPeer(
        other, withNearbyConnectionData: meetingPlace.waitForConnectionData(of: other))
} catch {
    print("no: \(error.localizedDescription)")
    exit(1)
}
while let line = readLine(), line != "quit" { conversation.say(line) }
conversation.session.disconnect()
