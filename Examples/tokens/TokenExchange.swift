import Foundation
import MultipeerConnectivity

/// Finds another device, connects with it and swaps tokens. With an identity only devices that
/// advertise the same one are invited; without, anybody nearby.
class TokenExchange: NSObject {
    private static let serviceType = "tokens"
    private static let identityKey = "identity"

    private let token: Token
    private let identity: String?
    private let peerID: MCPeerID
    private let session: MCSession
    private let advertiser: MCNearbyServiceAdvertiser
    private let browser: MCNearbyServiceBrowser

    init(name: String, identity: String?, token: Token) {
        self.token = token
        self.identity = identity
        peerID = MCPeerID(displayName: name)
        session = MCSession(
            peer: peerID, securityIdentity: nil, encryptionPreference: .required)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peerID, discoveryInfo: identity.map { [Self.identityKey: $0] },
            serviceType: Self.serviceType)
        browser = MCNearbyServiceBrowser(peer: peerID, serviceType: Self.serviceType)
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

    private func sendToken(to peer: MCPeerID) {
        do {
            try session.send(token.message(), toPeers: [peer], with: .reliable)
        } catch {
            print("\(peer.displayName) did not get the token: \(error.localizedDescription)")
        }
    }
}

// MARK: - Finding

extension TokenExchange: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        guard identity == nil || info?[Self.identityKey] == identity else {
            return print("\(peerID.displayName) is another's: not invited")
        }
        // The other one sees us as well.
        guard self.peerID.displayName < peerID.displayName else { return }
        print("inviting \(peerID.displayName)")
        browser.invitePeer(
            peerID, to: session, withContext: identity.map { Data($0.utf8) }, timeout: 10)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        print("\(peerID.displayName) is not nearby any more")
    }
}

extension TokenExchange: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        let isWelcome = identity == nil || context == identity.map { Data($0.utf8) }
        print("invited by \(peerID.displayName)\(isWelcome ? "" : ", another's: declined")")
        invitationHandler(isWelcome, session)
    }
}

// MARK: - The session

extension TokenExchange: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .connecting: break
        case .connected:
            print("\(peerID.displayName) is connected: sending the token")
            sendToken(to: peerID)
        case .notConnected: print("\(peerID.displayName) is gone, and its token with it")
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        guard let token = Token(message: data) else {
            return print("\(peerID.displayName) sent something that is no token")
        }
        print("\(peerID.displayName)'s token: \(token)")
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
