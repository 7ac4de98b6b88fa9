import Foundation
import MultipeerConnectivity

/// Told by the manager, on the main queue.
protocol MPCManagerDelegate: AnyObject {
    func foundPeersChanged()
    func invitationWasReceived(from peer: MCPeerID)
    func connected(with peer: MCPeerID)
    func received(_ message: String, from peer: MCPeerID)
    /// A peer that was connected or invited is not connected.
    func disconnected(from peer: MCPeerID)
}

/// Owns everything that has to do with the network: peer, session, browser, advertiser, who is
/// there, and the invitation that waits for an answer.
final class MPCManager: NSObject {
    weak var delegate: (any MPCManagerDelegate)?

    let peer: MCPeerID
    let session: MCSession
    private(set) var foundPeers: [MCPeerID] = []
    /// Whether others see this device.
    private(set) var isVisible = false

    private let browser: MCNearbyServiceBrowser
    private let advertiser: MCNearbyServiceAdvertiser
    private var invitationHandler: ((Bool, MCSession?) -> Void)?

    init(name: String) {
        peer = MCPeerID(displayName: name)
        session = MCSession(peer: peer)
        // Apps were written with capitals here, which the framework took.
        browser = MCNearbyServiceBrowser(peer: peer, serviceType: "RV-ChatOfTwo")
        advertiser = MCNearbyServiceAdvertiser(
            peer: peer, discoveryInfo: nil, serviceType: "RV-ChatOfTwo")
        super.init()
        session.delegate = self
        browser.delegate = self
        advertiser.delegate = self
    }

    func startLooking() { browser.startBrowsingForPeers() }

    func stopLooking() { browser.stopBrowsingForPeers() }

    func setVisible(_ isVisible: Bool) {
        self.isVisible = isVisible
        if isVisible {
            advertiser.startAdvertisingPeer()
        } else {
            advertiser.stopAdvertisingPeer()
        }
    }

    func invite(_ peer: MCPeerID) {
        browser.invitePeer(peer, to: session, withContext: nil, timeout: 20)
    }

    func answerInvitation(_ isAccepted: Bool) {
        invitationHandler?(isAccepted, isAccepted ? session : nil)
        invitationHandler = nil
    }

    /// A message is a dictionary, archived.
    func send(_ message: String, to peer: MCPeerID) -> Bool {
        do {
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: ["message": message], requiringSecureCoding: false)
            try session.send(data, toPeers: [peer], with: .reliable)
            return true
        } catch {
            print("Not sent: \(error.localizedDescription)")
            return false
        }
    }
}

extension MPCManager: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        DispatchQueue.main.async { [self] in
            foundPeers.append(peerID)
            delegate?.foundPeersChanged()
        }
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        DispatchQueue.main.async { [self] in
            foundPeers.removeAll { $0 == peerID }
            delegate?.foundPeersChanged()
        }
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
    ) {
        print(error.localizedDescription)
    }
}

extension MPCManager: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        DispatchQueue.main.async { [self] in
            // A chat is of two: who comes later is declined.
            guard self.invitationHandler == nil, session.connectedPeers.isEmpty else {
                return invitationHandler(false, nil)
            }
            self.invitationHandler = invitationHandler
            delegate?.invitationWasReceived(from: peerID)
        }
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
    ) {
        print(error.localizedDescription)
    }
}

extension MPCManager: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        DispatchQueue.main.async { [self] in
            switch state {
            case .connected: delegate?.connected(with: peerID)
            case .connecting: print("Connecting to \(peerID.displayName) …")
            case .notConnected: delegate?.disconnected(from: peerID)
            @unknown default: break
            }
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        guard
            let dictionary = try? NSKeyedUnarchiver.unarchivedObject(
                ofClasses: [NSDictionary.self, NSString.self], from: data) as? [String: String],
            let message = dictionary["message"]
        else { return }
        DispatchQueue.main.async { [self] in delegate?.received(message, from: peerID) }
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
