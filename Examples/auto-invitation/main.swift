// Connects with everybody nearby who runs it as well, without a question:
// `example-auto-invitation NAME`.
import Foundation

guard let name = CommandLine.arguments.dropFirst().first else {
    print("usage: example-auto-invitation NAME")
    exit(2)
}
let (peerID, isReused) = PeerArchive.peerID(named: name)
print("I am \(name), \(isReused ? "the same peer as last time" : "a new peer").")
let matchmaker = Matchmaker(peerID: peerID)
matchmaker.start()
while let line = readLine(), line != "quit" {
    let peers = matchmaker.session.connectedPeers
    do {
        try matchmaker.session.send(Data(line.utf8), toPeers: peers, with: .reliable)
    } catch {
        print("not sent: \(error.localizedDescription)")
    }
}
matchmaker.stop()
