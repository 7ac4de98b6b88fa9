import Foundation
import MultipeerConnectivity
import Testing

/// Subclasses that override all that Apple's framework lets them: that it compiles is half of each
/// test. They do nothing but remember that they were called.
struct SubclassTests {
    private final class SessionDouble: MCSession, @unchecked Sendable {
        var calls: [String] = []

        override init(
            peer myPeerID: MCPeerID, securityIdentity identity: [Any]?,
            encryptionPreference: MCEncryptionPreference
        ) {
            super.init(
                peer: myPeerID, securityIdentity: identity,
                encryptionPreference: encryptionPreference)
        }
        override var myPeerID: MCPeerID { super.myPeerID }
        override var securityIdentity: [Any]? { nil }
        override var encryptionPreference: MCEncryptionPreference { .optional }
        override func send(
            _ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode
        ) throws { calls.append("send") }
        override func sendResource(
            at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
            withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
        ) -> Progress? { nil }
        override func nearbyConnectionData(
            forPeer peerID: MCPeerID,
            withCompletionHandler completionHandler:
                @escaping @Sendable (Data?, (any Error)?) -> Void
        ) { Task { completionHandler(Data("data".utf8), nil) } }
        override func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
            calls.append("connect")
        }
        override func cancelConnectPeer(_ peerID: MCPeerID) { calls.append("cancel") }
        override func disconnect() { calls.append("disconnect") }
    }

    /// The same two methods in the other forms that programs write.
    private final class AwaitedDouble: MCSession, @unchecked Sendable {
        override func nearbyConnectionData(forPeer peerID: MCPeerID) async throws -> Data {
            throw MCError(.unavailable)
        }
        // What older compilers say of it was not tried.
        #if compiler(>=6.2)
            override func nearbyConnectionData(
                forPeer peerID: MCPeerID,
                withCompletionHandler completionHandler: @escaping (Data?, (any Error)?) -> Void
            ) { completionHandler(nil, MCError(.unavailable)) }
        #endif
    }

    private final class PeerDouble: MCPeerID, @unchecked Sendable {
        override var displayName: String { "double of \(super.displayName)" }
    }

    private final class AdvertiserDouble: MCNearbyServiceAdvertiser, @unchecked Sendable {
        var isStarted = false
        override var myPeerID: MCPeerID { super.myPeerID }
        override var discoveryInfo: [String: String]? { ["a": "double"] }
        override var serviceType: String { super.serviceType }
        override weak var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
            get { nil }
            set {}
        }
        override func startAdvertisingPeer() { isStarted = true }
        override func stopAdvertisingPeer() { isStarted = false }
    }

    private final class BrowserDouble: MCNearbyServiceBrowser, @unchecked Sendable {
        var invited: [MCPeerID] = []
        override var myPeerID: MCPeerID { super.myPeerID }
        override var serviceType: String { super.serviceType }
        override weak var delegate: (any MCNearbyServiceBrowserDelegate)? {
            get { nil }
            set {}
        }
        override func startBrowsingForPeers() {}
        override func stopBrowsingForPeers() {}
        override func invitePeer(
            _ peerID: MCPeerID, to session: MCSession, withContext context: Data?,
            timeout: TimeInterval
        ) { invited.append(peerID) }
    }

    private final class AssistantDouble: MCAdvertiserAssistant, @unchecked Sendable {
        var isStarted = false
        override var session: MCSession { super.session }
        override var discoveryInfo: [String: String]? { nil }
        override var serviceType: String { super.serviceType }
        override weak var delegate: (any MCAdvertiserAssistantDelegate)? {
            get { nil }
            set {}
        }
        override func start() { isStarted = true }
        override func stop() { isStarted = false }
    }

    private final class ListDouble: MCBrowserViewController, @unchecked Sendable {
        override var session: MCSession { super.session }
        override var browser: MCNearbyServiceBrowser? { nil }
        override var minimumNumberOfPeers: Int {
            get { 3 }
            set {}
        }
        override var maximumNumberOfPeers: Int {
            get { 4 }
            set {}
        }
        override weak var delegate: (any MCBrowserViewControllerDelegate)? {
            get { nil }
            set {}
        }
        override func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {}
        override func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
    }

    private let peer: MCPeerID

    init() {
        KeyFolderForTests.use()
        peer = PeerDouble(displayName: "Gabe")
    }

    /// Stored properties are filled so until a program has the real ones.
    @Test func placeholdersNeedNoArguments() {
        let peer = MCPeerID()
        #expect((1...63).contains(peer.displayName.utf8.count) && peer != MCPeerID())
        #expect(MCSession().connectedPeers.isEmpty)
        #expect(MCNearbyServiceAdvertiser().serviceType.isEmpty)
        #expect(MCNearbyServiceBrowser().serviceType.isEmpty)
        #expect(MCAdvertiserAssistant().serviceType.isEmpty)
        #expect(MCBrowserViewController().session.connectedPeers.isEmpty)
    }

    @Test func sessionsAreOverridden() async throws {
        let double = SessionDouble(peer: peer)
        let session: MCSession = double
        try session.send(Data(), toPeers: [], with: .reliable)
        session.connectPeer(peer, withNearbyConnectionData: Data())
        session.cancelConnectPeer(peer)
        session.disconnect()
        #expect(double.calls == ["send", "connect", "cancel", "disconnect"])
        // Awaited or not, with Apple it is one method.
        #expect(try await session.nearbyConnectionData(forPeer: peer) == Data("data".utf8))
        let awaited: MCSession = AwaitedDouble(peer: peer)
        await #expect(throws: MCError.self) {
            try await awaited.nearbyConnectionData(forPeer: peer)
        }
    }

    @Test func theOthersAreOverridden() {
        #expect(peer.displayName == "double of Gabe")
        let advertiser = AdvertiserDouble(peer: peer, discoveryInfo: nil, serviceType: "chat")
        (advertiser as MCNearbyServiceAdvertiser).startAdvertisingPeer()
        #expect(advertiser.isStarted)
        let session = MCSession(peer: peer)
        let browser = BrowserDouble(peer: peer, serviceType: "chat")
        (browser as MCNearbyServiceBrowser).invitePeer(
            peer, to: session, withContext: nil, timeout: 0)
        #expect(browser.invited == [peer])
        let assistant = AssistantDouble(
            serviceType: "chat", discoveryInfo: nil, session: session)
        (assistant as MCAdvertiserAssistant).start()
        #expect(assistant.isStarted)
        let list: MCBrowserViewController = ListDouble(browser: browser, session: session)
        #expect(list.minimumNumberOfPeers == 3)
        #expect(list.browser == nil)
    }
}
