import Foundation
import Testing

@testable import MultipeerConnectivity

/// Somebody with a peer, a session, an advertiser and a browser, who remembers all that is told.
final class Person: NSObject, @unchecked Sendable {
    struct Notes {
        var states: [MCSessionState] = []
        var messages: [String] = []
        var found: [MCPeerID: [String: String]?] = [:]
        var lost: [MCPeerID] = []
        var invitations: [(from: MCPeerID, context: Data?)] = []
        var errors: [MCError] = []
        var streams: [(name: String, stream: InputStream)] = []
        var resources: [String] = []
        var contents: [Data?] = []
        var certificates: [[Any]?] = []
        var progresses: [Progress] = []
    }

    let peer: MCPeerID
    let session: MCSession
    let advertiser: MCNearbyServiceAdvertiser
    let browser: MCNearbyServiceBrowser
    private let state = Guarded(Notes())
    /// Whether invitations are accepted.
    private let isWilling: Bool
    /// Invitations are never answered.
    private let isSilent: Bool
    private let unanswered = Guarded<[Handed<(Bool, MCSession?) -> Void>]>([])
    private let acceptsCertificates: Bool

    init(
        _ name: String, service: String, info: [String: String]? = nil, isWilling: Bool = true,
        isSilent: Bool = false,
        acceptsCertificates: Bool = true,
        encryption: MCEncryptionPreference = .required, identity: [Any]? = nil
    ) {
        KeyFolderForTests.use()
        peer = MCPeerID(displayName: name)
        session = MCSession(
            peer: peer, securityIdentity: identity, encryptionPreference: encryption)
        advertiser = MCNearbyServiceAdvertiser(
            peer: peer, discoveryInfo: info, serviceType: service)
        browser = MCNearbyServiceBrowser(peer: peer, serviceType: service)
        self.isWilling = isWilling
        self.isSilent = isSilent
        self.acceptsCertificates = acceptsCertificates
        super.init()
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
    }

    var notes: Notes { state.with { $0 } }

    func note(_ change: (inout Notes) -> Void) { state.with(change) }

    /// Sends it, and remembers how that ended.
    func sends(_ url: URL, as name: String, to other: Person) -> Guarded<[MCError?]> {
        let told = Guarded<[MCError?]>([])
        session.sendResource(at: url, withName: name, toPeer: other.peer) {
            let error = $0 as? MCError
            told.with { $0.append(error) }
        }
        return told
    }

    /// Waits until it is so; half a minute at most.
    func waits(
        until isSo: (Notes) -> Bool, _ location: SourceLocation = #_sourceLocation
    ) async {
        for _ in 0..<1_500 {
            if isSo(notes) { return }
            try? await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("\(peer.displayName) waited in vain: \(notes)", sourceLocation: location)
    }

    /// Finds the other, invites it, and returns when both are connected.
    func joins(_ other: Person, context: Data? = nil) async {
        other.advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
        await waits { $0.found[other.peer] != nil }
        browser.invitePeer(other.peer, to: session, withContext: context, timeout: 20)
        await waits { $0.states.last == .connected }
        await other.waits { $0.states.last == .connected }
    }

    func leaves() {
        session.disconnect()
        advertiser.stopAdvertisingPeer()
        browser.stopBrowsingForPeers()
    }

    /// A service that no other test has.
    static var someService: String { "t" + UUID().uuidString.prefix(8).lowercased() }
}

extension Person: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        note { $0.states.append(state) }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        note {
            $0.messages.append(
                data.count > 100 ? "\(data.count) bytes" : String(decoding: data, as: UTF8.self))
        }
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        let handed = Handed(value: stream)
        note { $0.streams.append((streamName, handed.value)) }
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        note {
            $0.resources.append("started \(resourceName)")
            $0.progresses.append(progress)
        }
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        let content = localURL.flatMap { try? Data(contentsOf: $0) }
        note {
            $0.resources.append("finished \(resourceName)")
            $0.contents.append(content)
            if let error = error as? MCError { $0.errors.append(error) }
        }
    }

    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) {
        let handed = Handed(value: certificate)
        note { $0.certificates.append(handed.value) }
        certificateHandler(acceptsCertificates)
    }
}

extension Person: MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        note { $0.invitations.append((peerID, context)) }
        if isSilent {
            let handed = Handed(value: invitationHandler)
            return unanswered.with { $0.append(handed) }
        }
        invitationHandler(isWilling, isWilling ? session : nil)
    }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
    ) {
        if let error = error as? MCError { note { $0.errors.append(error) } }
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        note { $0.found[peerID] = .some(info) }
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        note { $0.lost.append(peerID) }
    }

    func browser(
        _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
    ) {
        if let error = error as? MCError { note { $0.errors.append(error) } }
    }
}
