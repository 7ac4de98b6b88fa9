import Foundation
import Nearby

/// Looks for peers nearby that advertise a service, and invites them.
open class MCNearbyServiceBrowser: NSObject, @unchecked Sendable {
    /// Who looks, and invites.
    open private(set) var myPeerID: MCPeerID
    /// As it was given; capitals do not matter.
    open private(set) var serviceType: String

    private let delegateReference = Delegate()
    private let queue = DispatchQueue(label: "MCNearbyServiceBrowser.delegate")
    private let running = Guarded<Running?>(nil)

    private struct Running {
        var browser: Browser
        var task: Task<Void, Never>
    }

    /// - Parameters:
    ///   - myPeerID: One that was made, or unarchived, on this machine.
    ///   - serviceType: 1 to 15 letters, digits and hyphens, at least one letter. What is not right
    ///     with it is told by `didNotStartBrowsingForPeers`.
    public init(peer myPeerID: MCPeerID, serviceType: String) {
        self.myPeerID = myPeerID
        self.serviceType = serviceType
        super.init()
    }

    /// Of no service, so that it does not start: programs fill a property with it until they have
    /// the real one.
    public override convenience init() { self.init(peer: MCPeerID(), serviceType: "") }

    deinit {
        running.with { running in
            running?.browser.stop()
            running?.task.cancel()
        }
    }

    /// Whom the browser tells what happens. Weak.
    open weak var delegate: (any MCNearbyServiceBrowserDelegate)? {
        get { delegateReference.current as? any MCNearbyServiceBrowserDelegate }
        set { delegateReference.current = newValue }
    }

    /// Begins to look; what keeps it from that is told by `didNotStartBrowsingForPeers`.
    open func startBrowsingForPeers() {
        do {
            try browser().start()
        } catch {
            tellFailure(MCError(describing: error))
        }
    }

    /// Nobody is found or lost any more; sessions and invitations stay.
    open func stopBrowsingForPeers() {
        running.with { $0?.browser.stop() }
    }

    /// Invites a peer to a session. What becomes of it is told to the session's delegate.
    ///
    /// - Parameters:
    ///   - peerID: Whom the browser found, or who is known by other means.
    ///   - session: Of the browser's own peer.
    ///   - context: Bytes that travel with the invitation, at most 16 KiB.
    ///   - timeout: How long to wait for an answer, in seconds; 30 if it is not positive.
    open func invitePeer(
        _ peerID: MCPeerID, to session: MCSession, withContext context: Data?,
        timeout: TimeInterval
    ) {
        do {
            try browser().beginInviting(
                peerID.peer, to: session.open(), context: [UInt8](context ?? Data()),
                timeout: .invitation(timeout))
        } catch {
            session.link.tellFailure(MCError(describing: error), of: peerID)
        }
    }

    private func browser() throws -> Browser {
        try running.with { running in
            if let running { return running.browser }
            let browser = try Browser(peer: myPeerID.peer, service: Service(serviceType))
            let events = browser.events
            let task = Task { [weak self] in
                for await event in events { await self?.tell(event) }
            }
            running = Running(browser: browser, task: task)
            return browser
        }
    }

    private func tellFailure(_ error: MCError) {
        queue.async { [weak self] in
            guard let self else { return }
            guard let delegate else { return report("not browsing: \(error)") }
            delegate.browser(self, didNotStartBrowsingForPeers: error)
        }
    }

    private func tell(_ event: Browser.Event) async {
        switch event {
        // Discovery info that has changed is told as Apple's browser tells it: found once more, and
        // never lost in between, as many programs disconnect from whom they lose.
        case .found(let peer, let info), .changed(let peer, let info): await tellFound(peer, info)
        case .lost(let peer): await tellLost(peer)
        case .failed(let error): tellFailure(MCError(error))
        }
    }

    private func tellFound(_ peer: Peer, _ info: [String: String]) async {
        await queue.deliver { [weak self] in
            guard let self else { return }
            delegate?.browser(
                self, foundPeer: MCPeerID(peer), withDiscoveryInfo: info.isEmpty ? nil : info)
        }
    }

    private func tellLost(_ peer: Peer) async {
        await queue.deliver { [weak self] in
            guard let self else { return }
            delegate?.browser(self, lostPeer: MCPeerID(peer))
        }
    }
}

extension Duration {
    /// 30 seconds for what is not positive; at most a day.
    static func invitation(_ timeout: TimeInterval) -> Duration {
        guard timeout > 0 else { return .seconds(30) }
        return .milliseconds(Int64(min(timeout, 86_400) * 1_000))
    }
}

/// What a browser tells. Called on a private serial queue, one call after the other.
public protocol MCNearbyServiceBrowserDelegate: NSObjectProtocol {
    /// A peer is near. Called again when its discovery info has changed.
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?)

    /// A peer is not near any more.
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID)

    /// It could not start, or stopped working. Without this method the error goes to standard
    /// error.
    func browser(
        _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error)
}

extension MCNearbyServiceBrowserDelegate {
    public func browser(
        _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
    ) {
        report("not browsing for \(browser.serviceType): \(error.localizedDescription)")
    }
}
