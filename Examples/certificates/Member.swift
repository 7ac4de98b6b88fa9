import Foundation
import MultipeerConnectivity

/// Shows its certificates to whom it meets, and lets in only those whose chain leads to its anchor.
class Member: NSObject {
    let session: MCSession
    let advertiser: MCNearbyServiceAdvertiser
    let browser: MCNearbyServiceBrowser
    private let anchor: Data?

    init(_ options: Options) {
        let peerID = MCPeerID(displayName: options.name)
        anchor = options.anchor
        session = MCSession(
            peer: peerID, securityIdentity: options.identity.map { [$0] },
            encryptionPreference: options.encryption)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peerID, discoveryInfo: nil, serviceType: options.serviceType)
        browser = MCNearbyServiceBrowser(peer: peerID, serviceType: options.serviceType)
        super.init()
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
    }

    func start() {
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
    }

    func stop() {
        browser.stopBrowsingForPeers()
        advertiser.stopAdvertisingPeer()
        session.disconnect()
    }

    func say(_ text: String) {
        do {
            try session.send(Data(text.utf8), toPeers: session.connectedPeers, with: .reliable)
        } catch {
            print("not sent: \(error.localizedDescription)")
        }
    }
}

// MARK: - Certificates

extension Member {
    /// The one place where it is decided who is let in. On iOS this would evaluate a `SecTrust`
    /// with the basic X.509 policy and our anchor only.
    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        guard let anchor else { return certificateHandler(true) }
        let isTrusted = MCCertificates.isTrusted(certificate, anchors: [anchor])
        let count = certificate?.count ?? 0
        print(
            "\(peerID.displayName) shows \(count) certificate\(count == 1 ? "" : "s"): "
                + (isTrusted ? "trusted" : "refused"))
        certificateHandler(isTrusted)
    }
}

// MARK: - Discovery

extension Member: MCNearbyServiceBrowserDelegate {
    /// Both see each other: the first name in the alphabet invites.
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        guard session.myPeerID.displayName < peerID.displayName else { return }
        print("inviting \(peerID.displayName)")
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 10)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        print("lost \(peerID.displayName)")
    }
}

extension Member: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        print("invited by \(peerID.displayName)")
        invitationHandler(true, session)
    }
}

// MARK: - Session

extension Member: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .connecting: break
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
