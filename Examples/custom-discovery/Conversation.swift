import Foundation
import MultipeerConnectivity

/// A session with one other peer, and nothing that discovers: no browser, no advertiser.
class Conversation: NSObject, MCSessionDelegate {
    let peerID: MCPeerID
    let session: MCSession

    init(name: String) {
        peerID = MCPeerID(displayName: name)
        session = MCSession(peer: peerID)
        super.init()
        session.delegate = self
    }

    /// What the other needs to reach us. The session makes it in the background; we wait.
    func connectionData(for peer: MCPeerID) throws -> Data {
        var answer = Result<Data, any Error>.failure(CocoaError(.featureUnsupported))
        let isAnswered = DispatchSemaphore(value: 0)
        session.nearbyConnectionData(forPeer: peer) { data, error in
            if let data { answer = .success(data) } else if let error { answer = .failure(error) }
            isAnswered.signal()
        }
        isAnswered.wait()
        return try answer.get()
    }

    func say(_ text: String) {
        do {
            try session.send(Data(text.utf8), toPeers: session.connectedPeers, with: .reliable)
        } catch {
            print("not sent: \(error.localizedDescription)")
        }
    }

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .connecting: print("connecting with \(peerID.displayName)")
        case .connected: print("\(peerID.displayName) is connected")
        case .notConnected: print("\(peerID.displayName) is not connected")
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        print("\(peerID.displayName) says: \(String(decoding: data, as: UTF8.self))")
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {}

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {}
}
