import Foundation
import MultipeerConnectivity

/// Somebody else's device, with a session that is for it alone: what happens to one device happens
/// to no other.
final class Device: NSObject {
    let peerID: MCPeerID
    var name: String { peerID.displayName }
    private(set) var state = MCSessionState.notConnected
    private(set) var session: MCSession?
    /// Found, and not lost. One that invites us may not have been found yet.
    var isNearby = false

    init(peerID: MCPeerID) {
        self.peerID = peerID
        super.init()
    }

    /// Makes the session, if there is none.
    @discardableResult
    func connect() -> MCSession {
        if let session { return session }
        let session = MCSession(
            peer: DeviceCenter.shared.peerID, securityIdentity: nil,
            encryptionPreference: .required)
        session.delegate = self
        self.session = session
        return session
    }

    func invite(with browser: MCNearbyServiceBrowser) {
        guard state == .notConnected else { return }
        browser.invitePeer(peerID, to: connect(), withContext: nil, timeout: 10)
    }

    func disconnect() {
        session?.disconnect()
        session = nil
        change(to: .notConnected)
    }

    func send(_ message: Message) throws {
        guard let session else { throw MCError(.notConnected) }
        try session.send(JSONEncoder().encode(message), toPeers: [peerID], with: .reliable)
    }

    private func change(to state: MCSessionState) {
        guard state != self.state else { return }
        self.state = state
        NotificationCenter.default.post(name: .deviceDidChangeState, object: self)
        if state == .notConnected { DeviceCenter.shared.removeIfGone(self) }
    }
}

/// What devices tell each other, as JSON.
struct Message: Codable {
    var text: String
    var sent = Date()
}

extension Notification.Name {
    /// Of a `Device`.
    static let deviceDidChangeState = Notification.Name("deviceDidChangeState")
    /// Of a `Device`; `userInfo["message"]` is a `Message`.
    static let deviceDidReceiveMessage = Notification.Name("deviceDidReceiveMessage")
    /// Of the `DeviceCenter`.
    static let devicesDidChange = Notification.Name("devicesDidChange")
}

extension Device: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        DispatchQueue.main.async { [self] in
            // A session that was let go may have something to say still.
            if session === self.session { change(to: state) }
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        guard let message = try? JSONDecoder().decode(Message.self, from: data) else { return }
        DispatchQueue.main.async { [self] in
            NotificationCenter.default.post(
                name: .deviceDidReceiveMessage, object: self, userInfo: ["message": message])
        }
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
