import Foundation

/// A list of who is nearby, on the whole terminal: arrows choose, Enter invites, `d` is Done, `c`
/// is Cancel.
///
/// There is no UIKit that would present it: `run()` shows it and returns when it is done,
/// `present()` shows it and returns at once.
open class MCBrowserViewController: NSObject, MCNearbyServiceBrowserDelegate, @unchecked Sendable {
    /// What people are invited to.
    open private(set) var session: MCSession
    /// Tells this object what it finds, from when the list is shown.
    open private(set) var browser: MCNearbyServiceBrowser?

    private let delegateReference = Delegate()
    private let queue = DispatchQueue(label: "MCBrowserViewController.delegate")
    fileprivate let state: Guarded<State>

    fileprivate struct State {
        var minimumNumberOfPeers = kMCSessionMinimumNumberOfPeers
        var maximumNumberOfPeers = kMCSessionMaximumNumberOfPeers
        /// While it is shown.
        var list: PeerList?
        var isDismissed = false
        var completions: [() -> Void] = []
    }

    /// A list of those who advertise the service, with a browser of its own.
    public convenience init(serviceType: String, session: MCSession) {
        self.init(
            browser: MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: serviceType),
            session: session)
    }

    /// A list of those whom a browser finds; it is the browser's delegate while it is shown.
    public init(browser: MCNearbyServiceBrowser, session: MCSession) {
        self.browser = browser
        self.session = session
        state = Guarded(State())
        super.init()
    }

    /// Of no service, so that it finds nobody: programs fill a property with it until they have the
    /// real one.
    public override convenience init() { self.init(serviceType: "", session: MCSession()) }

    /// Whom the list tells what was chosen. Weak.
    open weak var delegate: (any MCBrowserViewControllerDelegate)? {
        get { delegateReference.current as? any MCBrowserViewControllerDelegate }
        set { delegateReference.current = newValue }
    }

    /// How many the session needs, oneself included, for Done. At least 2.
    open var minimumNumberOfPeers: Int {
        get { state.with { $0.minimumNumberOfPeers } }
        set {
            state.with { $0.minimumNumberOfPeers = max(newValue, kMCSessionMinimumNumberOfPeers) }
        }
    }

    /// How many the list lets into the session, oneself included. Apple's limit of 8 does not hold.
    open var maximumNumberOfPeers: Int {
        get { state.with { $0.maximumNumberOfPeers } }
        set {
            state.with { $0.maximumNumberOfPeers = max(newValue, kMCSessionMinimumNumberOfPeers) }
        }
    }

    /// Shows the list and returns at once. Not in Apple's framework.
    open func present() {
        Thread.detachNewThread { self.run() }
    }

    /// Shows the list and returns when Done or Cancel was chosen, after the delegate was told, or
    /// when it was dismissed. Not in Apple's framework.
    open func run() {
        guard let terminal = TerminalDevice() else {
            report("MCBrowserViewController has no terminal to show its list at: cancelled")
            return tell { $0.browserViewControllerWasCancelled($1) }
        }
        let isShownAlready = state.with { state in
            defer { state.list = state.list ?? PeerList(state, browser) }
            state.isDismissed = false
            return state.list != nil
        }
        guard !isShownAlready else { return }
        let isFinished = show(on: terminal)
        let completions = state.with { state in
            defer { state.completions = [] }
            state.list = nil
            return state.completions
        }
        for completion in completions { completion() }
        switch isFinished {
        case true?: tell { $0.browserViewControllerDidFinish($1) }
        case false?: tell { $0.browserViewControllerWasCancelled($1) }
        case nil: break
        }
    }

    /// Takes the list away, as UIKit would; the delegate is not told.
    open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) {
        let isShown = state.with { state in
            state.isDismissed = true
            if state.list != nil, let completion { state.completions.append(completion) }
            return state.list != nil
        }
        if !isShown { completion?() }
    }

    open func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        let isPresented =
            delegate?.browserViewController(
                self, shouldPresentNearbyPeer: peerID, withDiscoveryInfo: info) ?? true
        if isPresented { state.with { $0.list?.find(peerID) } }
    }

    open func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        state.with { $0.list?.lose(peerID) }
    }

    /// Not in Apple's class, where it is private: the list ends.
    open func browser(
        _ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error
    ) {
        report("not browsing for \(browser.serviceType): \(error.localizedDescription)")
        dismiss(animated: false)
        tell { $0.browserViewControllerWasCancelled($1) }
    }

    @available(
        *, unavailable,
        message: "There are no nibs and storyboards on Linux: init(serviceType:session:)"
    )
    public required init?(coder: NSCoder) { nil }
}

/// While it is shown.
extension MCBrowserViewController {
    /// True for Done, false for Cancel, nil when it was dismissed.
    private func show(on terminal: TerminalDevice) -> Bool? {
        for peer in session.connectedPeers { state.with { $0.list?.change(peer, to: .connected) } }
        let observation = session.link.observe { [weak self] peer, standing in
            self?.state.with { $0.list?.change(peer, to: standing) }
        }
        Questions.atTerminal.screenAppeared()
        browser?.delegate = self
        browser?.startBrowsingForPeers()
        defer {
            browser?.stopBrowsingForPeers()
            session.link.removeObserver(observation)
            Questions.atTerminal.screenDisappeared()
        }
        return terminal.onWholeScreen { follow(keysOf: terminal) }
    }

    private func follow(keysOf terminal: TerminalDevice) -> Bool? {
        var drawn: [String] = []
        while let list = current() {
            let size = terminal.size
            let lines = list.lines(columns: size.columns, rows: size.lines)
            if lines != drawn { terminal.draw(lines) }
            drawn = lines
            // A terminal that hung up.
            guard let bytes = terminal.read(within: 100) else { return false }
            for key in KeyPress.keys(bytes) {
                switch state.with({ $0.list?.handle(key) }) {
                case .invite(let peer)?: invite(peer)
                case .answer(let isAccepted)?: Questions.atTerminal.answerFirst(isAccepted)
                case .finish?: return true
                case .cancel?: return false
                case nil: break
                }
            }
        }
        return nil
    }

    /// The list with the question of now; nil when it was dismissed.
    private func current() -> PeerList? {
        state.with { state in
            state.list?.question = Questions.atTerminal.first
            return state.isDismissed ? nil : state.list
        }
    }

    private func invite(_ peer: MCPeerID) {
        browser?.invitePeer(peer, to: session, withContext: nil, timeout: 0)
    }

    /// On the private queue, and returns when the delegate has.
    private func tell(
        _ call: (any MCBrowserViewControllerDelegate, MCBrowserViewController) -> Void
    ) {
        queue.sync {
            if let delegate { call(delegate, self) }
        }
    }
}

extension PeerList {
    fileprivate init(_ state: MCBrowserViewController.State, _ browser: MCNearbyServiceBrowser?) {
        self.init(
            title: browser?.serviceType ?? "", minimumNumberOfPeers: state.minimumNumberOfPeers,
            maximumNumberOfPeers: state.maximumNumberOfPeers)
    }
}

/// What the list tells. Called on a private serial queue.
public protocol MCBrowserViewControllerDelegate: NSObjectProtocol {
    /// Done was chosen. The list is gone already.
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController)

    /// Cancel was chosen, or the list could not be shown. The list is gone already.
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController)

    /// Whether a peer that was found is listed. Without this method all are.
    func browserViewController(
        _ browserViewController: MCBrowserViewController,
        shouldPresentNearbyPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) -> Bool
}

extension MCBrowserViewControllerDelegate {
    public func browserViewController(
        _ browserViewController: MCBrowserViewController,
        shouldPresentNearbyPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) -> Bool { true }
}
