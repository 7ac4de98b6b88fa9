import Foundation
import MultipeerConnectivity
import Testing

/// What programs write for Apple's framework, word by word: that it compiles is half of each test.
struct SourceCompatibilityTests {
    /// With Swift 6 some say that the handlers go to other threads.
    private final class SendableHandlers: NSObject, MCNearbyServiceAdvertiserDelegate,
        MCSessionDelegate
    {
        func advertiser(
            _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
            withContext context: Data?,
            invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
        ) {
            Task { @MainActor in invitationHandler(true, nil) }
        }

        func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        }
        func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}
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
        func session(
            _ session: MCSession, didReceiveCertificate certificate: [Any]?,
            fromPeer peerID: MCPeerID, certificateHandler: @escaping @Sendable (Bool) -> Void
        ) {
            Task { @MainActor in certificateHandler(true) }
        }
    }

    /// Others do not let the handler escape at all.
    private final class HandlerCalledAtOnce: NSObject, MCNearbyServiceAdvertiserDelegate {
        func advertiser(
            _: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer _: MCPeerID,
            withContext _: Data?, invitationHandler: (Bool, MCSession?) -> Void
        ) {
            invitationHandler(true, nil)
        }
    }

    /// A test double, as apps make them: what it overrides is weak, as with Apple.
    private final class Double: MCSession, @unchecked Sendable {
        var delegateCount = 0
        override weak var delegate: (any MCSessionDelegate)? {
            didSet { delegateCount += 1 }
        }
        override var connectedPeers: [MCPeerID] { [myPeerID] }
        override func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws
            -> OutputStream
        { .toMemory() }
    }

    init() { KeyFolderForTests.use() }

    @Test func handlersMayBeWrittenAsSendable() async {
        let advertiser = MCNearbyServiceAdvertiser(
            peer: MCPeerID(displayName: "Gabe"), discoveryInfo: nil, serviceType: "chat")
        for delegate in [SendableHandlers(), HandlerCalledAtOnce()]
            as [any MCNearbyServiceAdvertiserDelegate]
        {
            let isAccepted = await withCheckedContinuation { continuation in
                delegate.advertiser(
                    advertiser, didReceiveInvitationFromPeer: advertiser.myPeerID, withContext: nil
                ) { isAccepted, _ in continuation.resume(returning: isAccepted) }
            }
            #expect(isAccepted)
        }
    }

    @Test func subclassesOverrideTheWeakDelegate() throws {
        let session = Double(peer: MCPeerID(displayName: "Gabe"))
        var delegate: SendableHandlers? = SendableHandlers()
        session.delegate = delegate
        #expect(session.delegate === delegate)
        #expect(session.delegateCount == 1)
        delegate = nil
        #expect(session.delegate == nil)
        #expect(session.connectedPeers == [session.myPeerID])
        // Nobody has to look at the stream: Objective-C has no results that must be used.
        let plain: MCSession = session
        try plain.startStream(withName: "film", toPeer: session.myPeerID)
    }

    @Test func errorThatCameAsNSErrorIsCaughtByCode() {
        func isNotConnected(_ error: any Error) -> Bool {
            if case MCError.notConnected = error { true } else { false }
        }
        let number = MCError.Code.notConnected.rawValue
        #expect(isNotConnected(NSError(domain: MCErrorDomain, code: number)))
        #expect(!isNotConnected(NSError(domain: "another", code: number)))
        #expect(!isNotConnected(NSError(domain: MCErrorDomain, code: number + 1)))
        #expect(!isNotConnected(CancellationError()))
    }

    @Test func peerIsKeptWithTheWordsOfKeyValueCoding() throws {
        let defaults = try #require(UserDefaults(suiteName: "tests-\(UUID().uuidString)"))
        let peer = MCPeerID(displayName: "Gabe")
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: peer, requiringSecureCoding: true)
        defaults.setValue(archive, forKey: "peer")
        let kept = try #require(defaults.value(forKey: "peer") as? Data)
        #expect(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: kept) == peer)
        defaults.setValue(nil, forKey: "peer")
        #expect(defaults.value(forKey: "peer") == nil)
    }

    /// Apple's Foundation has the loading of URLs, and the file imports nothing else.
    @Test func whatLoadsURLsComesWithTheModule() throws {
        let request = URLRequest(url: try #require(URL(string: "http://localhost/film")))
        let task = URLSession.shared.dataTask(with: request)
        task.cancel()
        #expect(task.originalRequest?.url == request.url)
    }
}
