import Foundation
import MultipeerConnectivity

/// A folder that both can read and write: a network share, or one that something synchronises.
/// First each leaves its archived peer ID there, then connection data for the other.
struct MeetingPlace {
    let folder: URL
    let own: MCPeerID

    func leavePeerID() throws {
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: own, requiringSecureCoding: true)
        try archive.write(to: file("\(own.displayName).peer"), options: .atomic)
    }

    /// Looks twice a second; the first peer ID that is not our own is the other's.
    func waitForPeerID() throws -> MCPeerID {
        while true {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
            where name.hasSuffix(".peer") && name != "\(own.displayName).peer" {
                let archive = try Data(contentsOf: file(name))
                guard
                    let peerID = try NSKeyedUnarchiver.unarchivedObject(
                        ofClass: MCPeerID.self, from: archive)
                else { continue }
                return peerID
            }
            Thread.sleep(forTimeInterval: 0.5)
        }
    }

    func leave(_ connectionData: Data, for peer: MCPeerID) throws {
        let name = connectionDataName(of: own, for: peer)
        try connectionData.write(to: file(name), options: .atomic)
    }

    func waitForConnectionData(of peer: MCPeerID) -> Data {
        let file = file(connectionDataName(of: peer, for: own))
        while true {
            if let data = try? Data(contentsOf: file) { return data }
            Thread.sleep(forTimeInterval: 0.5)
        }
    }

    private func connectionDataName(of sender: MCPeerID, for receiver: MCPeerID) -> String {
        "\(sender.displayName)-for-\(receiver.displayName).connection"
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
}
