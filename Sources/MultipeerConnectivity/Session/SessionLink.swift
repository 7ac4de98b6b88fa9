import Foundation
import Nearby

/// Between a session of `Nearby` and a delegate: takes event after event, and hands each to the
/// delegate on the private queue before it takes the next, so that nothing piles up here.
final class SessionLink: @unchecked Sendable {
    typealias Observer = @Sendable (MCPeerID, MCSessionState) -> Void

    let queue = DispatchQueue(label: "MCSession.delegate")
    let delegate = Delegate()
    private let sessionReference = Delegate()
    private let following = Guarded<Task<Void, Never>?>(nil)
    private let observers = Guarded<[UUID: Observer]>([:])
    /// What the delegate was told of those that are not apart.
    private let standings = Guarded<[MCPeerID: MCSessionState]>([:])

    var session: MCSession? {
        get { sessionReference.current as? MCSession }
        set { sessionReference.current = newValue }
    }

    func follow(_ session: Session) {
        let events = session.events
        let task = Task { [weak self] in
            for await event in events { await self?.tell(event) }
        }
        following.with { $0 = task }
    }

    /// From now on nobody is told anything, except those who wait for a peer.
    func end() {
        following.with { $0?.cancel() }
        for peer in standings.with({ $0.keys }) {
            for observer in observers.with({ Array($0.values) }) { observer(peer, .notConnected) }
        }
    }

    /// For the screens of this module, which see states beside the delegate.
    func observe(_ observer: @escaping Observer) -> UUID {
        let key = UUID()
        observers.with { $0[key] = observer }
        return key
    }

    func removeObserver(_ key: UUID) { observers.with { $0[key] = nil } }

    /// An attempt that could not even begin: its peer is not connected, unless it was before.
    func tellFailure(_ error: MCError, of peer: MCPeerID) {
        Task {
            session?.failureHandler?(peer, error)
            guard standings.with({ $0[peer] }) == nil else { return }
            await tellState(.notConnected, of: peer)
        }
    }

    /// Calls the delegate on the queue, if there is one.
    func callDelegate(
        _ call: @escaping @Sendable (any MCSessionDelegate, MCSession) -> Void
    ) async {
        await queue.deliver { [weak self] in
            guard let self, let session, let delegate = session.delegate else { return }
            call(delegate, session)
        }
    }

    private func tell(_ event: Session.Event) async {
        switch event {
        case .state(let peer, let state):
            await tellState(MCSessionState(state), of: MCPeerID(peer))
        case .message(let bytes, let peer, _):
            await callDelegate { delegate, session in
                delegate.session(session, didReceive: Data(bytes), fromPeer: MCPeerID(peer))
            }
        case .stream(let stream, let name, let peer):
            await callDelegate { delegate, session in
                delegate.session(
                    session, didReceive: PeerInputStream(stream), withName: name,
                    fromPeer: MCPeerID(peer))
            }
        case .resource(let resource):
            await IncomingTransfer(resource, link: self).begin()
        case .failure(let peer, let error):
            session?.failureHandler?(MCPeerID(peer), MCError(error))
        }
    }

    /// Programs count on `connecting` before `connected`, and on no state twice; a failure is told
    /// even of a peer that was apart.
    private func tellState(_ state: MCSessionState, of peer: MCPeerID) async {
        let before = standings.with { standings in
            defer { standings[peer] = state == .notConnected ? nil : state }
            return standings[peer] ?? .notConnected
        }
        if before == .notConnected, state == .connected { await pass(.connecting, of: peer) }
        if before != state || state == .notConnected { await pass(state, of: peer) }
    }

    private func pass(_ state: MCSessionState, of peer: MCPeerID) async {
        for observer in observers.with({ Array($0.values) }) { observer(peer, state) }
        await callDelegate { $0.session($1, peer: peer, didChange: state) }
    }
}

/// Certificates.
extension SessionLink {
    /// The delegate's decision; without a delegate everybody is accepted.
    func accepts(_ chain: [[UInt8]], of peer: MCPeerID) async -> Bool {
        await withCheckedContinuation { continuation in
            let answer = PendingAnswer(isTrueWithoutAnswer: false) {
                continuation.resume(returning: $0)
            }
            queue.async { [weak self] in
                guard let session = self?.session, let delegate = session.delegate else {
                    answer.give(true)
                    return
                }
                delegate.session(
                    session, didReceiveCertificate: chain.isEmpty ? nil : chain.map { Data($0) },
                    fromPeer: peer, certificateHandler: { answer.give($0) })
            }
        }
    }
}

/// A question that is answered once: by a call, or, when whoever was to call has let go of it, by
/// itself.
final class PendingAnswer: Sendable {
    private let take: Guarded<(@Sendable (Bool) -> Void)?>
    private let isTrueWithoutAnswer: Bool

    init(isTrueWithoutAnswer: Bool, take: @escaping @Sendable (Bool) -> Void) {
        self.isTrueWithoutAnswer = isTrueWithoutAnswer
        self.take = Guarded(take)
    }

    deinit { give(isTrueWithoutAnswer) }

    func give(_ answer: Bool) {
        let take = self.take.with { take in
            defer { take = nil }
            return take
        }
        take?(answer)
    }
}
