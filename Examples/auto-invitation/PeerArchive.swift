import Foundation
import MultipeerConnectivity

/// Our peer ID, kept in the user defaults from one launch to the next. A new one at each launch
/// would be a new peer to everybody, and the old ones ghosts.
enum PeerArchive {
    private static let nameKey = "displayName"
    private static let peerKey = "peerID"

    /// The one of the last launch; a new one if there was none, or if it had another name.
    static func peerID(named name: String) -> (peerID: MCPeerID, isReused: Bool) {
        let defaults = UserDefaults.standard
        if defaults.string(forKey: nameKey) == name, let data = defaults.data(forKey: peerKey),
            let peerID = try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data)
        {
            return (peerID, true)
        }
        let peerID = MCPeerID(displayName: name)
        defaults.set(name, forKey: nameKey)
        defaults.set(bytes(of: peerID), forKey: peerKey)
        defaults.synchronize()
        return (peerID, false)
    }

    /// Equal peer IDs have equal bytes, here and on every other device.
    static func bytes(of peerID: MCPeerID) -> Data {
        do {
            return try NSKeyedArchiver.archivedData(
                withRootObject: peerID, requiringSecureCoding: true)
        } catch {
            fatalError("the peer ID cannot be archived: \(error.localizedDescription)")
        }
    }
}
