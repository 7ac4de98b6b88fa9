import Foundation
import MultipeerConnectivity

/// Both sides advertise and browse. When two see each other exactly one invites: whose archived
/// peer ID comes first. Both compare the same bytes, so they agree without a word.
class Matchmaker: NSObject {
    static let serviceType = "auto-invite"

    let peerID: MCPeerID
    let session: MCSession
    let advertiser: MCNearbyServiceAdvertiser
    let browser: MCNearbyServiceBrowser
    /// Whom we met since we started: a peer that comes back with the same ID is no stranger.
    var met: Set<MCPeerID> = []

    init(peerID: MCPeerID) {
        self.peerID = peerID
        session = MCSession(peer: peerID)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peerID, discoveryInfo: nil, serviceType: Self.serviceType)
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

    private func isInviter(of other: MCPeerID) -> Bool {
        PeerArchive.bytes(of: peerID).lexicographicallyPrecedes(PeerArchive.bytes(of: other))
    }
}

extension Matchmaker: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        guard isInviter(of: peerID) else {
            return print("found \(peerID.displayName): waiting for its invitation")
        }
        print("found \(peerID.displayName): inviting")
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 10)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        print("lost \(peerID.displayName)")
    }
}

extension Matchmaker: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        print("invited by \(peerID.displayName)")
        invitationHandler(true, session)
    }
}

extension Matchmaker: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        switch state {
        case .connecting: break
        case .connected:
            let isNew = met.insert(peerID).inserted
            print("\(peerID.displayName) is connected\(isNew ? "" : ", again")")
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
