import Foundation
import MultipeerConnectivity
import Testing

/// Delegates of the main actor, as programs with a screen write them. Compilers say of these
/// protocols what they say of Apple's: Swift 5 warns of a plain conformance, Swift 6 refuses it,
/// and takes the three forms here.
@MainActor struct MainActorDelegateTests {
    /// Methods that do not belong to it.
    @MainActor private final class Model: NSObject, MCSessionDelegate {
        var states: [MCSessionState] = []

        nonisolated func session(
            _ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState
        ) {
            Task { @MainActor in states.append(state) }
        }
        nonisolated func session(
            _ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID
        ) {}
        nonisolated func session(
            _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
            fromPeer peerID: MCPeerID
        ) {}
        nonisolated func session(
            _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
            fromPeer peerID: MCPeerID, with progress: Progress
        ) {}
        nonisolated func session(
            _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
            fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
        ) {}
    }

    /// A conformance that the compiler believes, and checks at each call: it is right only where
    /// the program calls the methods itself.
    @MainActor
    private final class Believed: NSObject,
        @preconcurrency MCNearbyServiceBrowserDelegate
    {
        var found: [MCPeerID] = []

        func browser(
            _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
            withDiscoveryInfo info: [String: String]?
        ) {
            found.append(peerID)
        }
        func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
    }

    init() { KeyFolderForTests.use() }

    @Test func methodsOutsideOfTheMainActorAreCalled() async {
        let (session, model) = (MCSession(peer: MCPeerID(displayName: "Gabe")), Model())
        session.delegate = model
        session.connectPeer(
            MCPeerID(displayName: "Jeff"), withNearbyConnectionData: Data("none".utf8))
        await eventually { model.states == [.notConnected] }
    }

    @Test func conformanceThatIsBelievedServesOnTheMainActor() {
        let browser = MCNearbyServiceBrowser(
            peer: MCPeerID(displayName: "Gabe"), serviceType: "chat")
        let believed = Believed()
        let delegate: any MCNearbyServiceBrowserDelegate = believed
        delegate.browser(browser, foundPeer: browser.myPeerID, withDiscoveryInfo: nil)
        #expect(believed.found == [browser.myPeerID])
    }

    private func eventually(_ isSo: () -> Bool) async {
        for _ in 0..<500 where !isSo() { try? await Task.sleep(for: .milliseconds(10)) }
        #expect(isSo())
    }

    // What Xcode makes of a class where the main actor is the default.
    #if compiler(>=6.2)
        /// Its conformance belongs to the main actor, and a cast to the protocol can fail off it.
        @MainActor
        private final class Isolated: NSObject,
            @MainActor MCNearbyServiceBrowserDelegate
        {
            var errorCount = 0

            func browser(
                _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
                withDiscoveryInfo info: [String: String]?
            ) {}
            func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
            func browser(
                _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
            ) {
                errorCount += 1
            }
        }

        @Test func conformanceOfTheMainActorIsToldAllTheSame() async {
            let browser = MCNearbyServiceBrowser(
                peer: MCPeerID(displayName: "Gabe"), serviceType: "much too long for it")
            let isolated = Isolated()
            browser.delegate = isolated
            browser.startBrowsingForPeers()
            await eventually { isolated.errorCount == 1 }
        }
    #endif
}
