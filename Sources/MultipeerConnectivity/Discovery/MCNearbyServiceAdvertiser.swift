import Foundation
import Nearby

/// Makes a peer known to those nearby who look for the same service, and takes their invitations.
open class MCNearbyServiceAdvertiser: NSObject, @unchecked Sendable {
    /// Who is advertised.
    open private(set) var myPeerID: MCPeerID
    /// What browsers are shown.
    open private(set) var discoveryInfo: [String: String]?
    /// As it was given; capitals do not matter.
    open private(set) var serviceType: String

    private let delegateReference = Delegate()
    private let queue = DispatchQueue(label: "MCNearbyServiceAdvertiser.delegate")
    private let running = Guarded<Running?>(nil)
    /// Invitations that nobody has answered. Their handlers may be gone: then the inviter waits in
    /// vain, as with Apple's framework, and a program that invites again at every refusal does not
    /// spin.
    private let unanswered = Guarded<[Invitation]>([])

    /// Takes invitations in place of the delegate: `MCAdvertiserAssistant`.
    let invitationTaker = Guarded<(@Sendable (Invitation) -> Void)?>(nil)

    private struct Running {
        var advertiser: Advertiser
        var tasks: [Task<Void, Never>]
    }

    /// - Parameters:
    ///   - myPeerID: One that was made, or unarchived, on this machine.
    ///   - info: Strings that browsers are shown: each `key=value` at most 255 bytes, 400 in all.
    ///   - serviceType: 1 to 15 letters, digits and hyphens, at least one letter. What is not right
    ///     with either is told by `didNotStartAdvertisingPeer`.
    public init(
        peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String
    ) {
        self.myPeerID = myPeerID
        discoveryInfo = info
        self.serviceType = serviceType
        super.init()
    }

    /// Of no service, so that it does not start: programs fill a property with it until they have
    /// the real one.
    public override convenience init() {
        self.init(peer: MCPeerID(), discoveryInfo: nil, serviceType: "")
    }

    deinit {
        running.with { running in
            running?.advertiser.stop()
            running?.tasks.forEach { $0.cancel() }
        }
    }

    /// Whom the advertiser tells what happens. Weak.
    open weak var delegate: (any MCNearbyServiceAdvertiserDelegate)? {
        get { delegateReference.current as? any MCNearbyServiceAdvertiserDelegate }
        set { delegateReference.current = newValue }
    }

    /// Begins to advertise; what keeps it from that is told by `didNotStartAdvertisingPeer`.
    open func startAdvertisingPeer() {
        do {
            try running.with { running in
                if running == nil { running = try begin() }
                try running?.advertiser.start()
            }
        } catch {
            tellFailure(MCError(describing: error))
        }
    }

    /// Invitations that were received before can still be answered.
    open func stopAdvertisingPeer() {
        running.with { $0?.advertiser.stop() }
    }

    private func begin() throws -> Running {
        let advertiser = try Advertiser(
            peer: myPeerID.peer, discoveryInfo: discoveryInfo ?? [:],
            service: Service(serviceType))
        let (invitations, failures) = (advertiser.invitations, advertiser.failures)
        return Running(
            advertiser: advertiser,
            tasks: [
                Task { [weak self] in
                    for await invitation in invitations { await self?.ask(about: invitation) }
                },
                Task { [weak self] in
                    for await failure in failures { self?.tellFailure(MCError(failure)) }
                },
            ])
    }

    private func tellFailure(_ error: MCError) {
        queue.async { [weak self] in
            guard let self else { return }
            guard let delegate else { return report("not advertised: \(error)") }
            delegate.advertiser(self, didNotStartAdvertisingPeer: error)
        }
    }

    private func ask(about invitation: Invitation) async {
        unanswered.with { unanswered in
            unanswered.removeAll { $0.isWithdrawn }
            if unanswered.count == Self.unansweredMax { unanswered.removeFirst() }
            unanswered.append(invitation)
        }
        await queue.deliver { [weak self] in
            guard let self else { return }
            if let take = invitationTaker.with({ $0 }) { return take(invitation) }
            delegate?.advertiser(
                self, didReceiveInvitationFromPeer: MCPeerID(invitation.peer),
                withContext: invitation.data
            ) { [weak self] isAccepted, session in
                invitation.answer(isAccepted, with: session)
                self?.unanswered.with { $0.removeAll { $0 === invitation } }
            }
        }
    }

    /// The oldest is declined when there are more.
    private static let unansweredMax = 100
}

extension Invitation {
    /// The context; nil if it is empty.
    var data: Data? { context.isEmpty ? nil : Data(context) }

    func answer(_ isAccepted: Bool, with session: MCSession?) {
        guard isAccepted else { return decline() }
        guard let session else {
            report("the invitation of \(peer.displayName) was accepted without a session: declined")
            return decline()
        }
        do {
            try accept(with: session.nearby.get())
        } catch {
            session.link.tellFailure(MCError(error), of: MCPeerID(peer))
        }
    }
}

/// What an advertiser tells. Called on a private serial queue, one call after the other.
public protocol MCNearbyServiceAdvertiserDelegate: NSObjectProtocol {
    /// A peer invites. `invitationHandler` may be kept and called later, on any thread: with true
    /// and the session to use, or with false. A delegate may write `@Sendable` with it or not.
    @preconcurrency func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?,
        invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void)

    /// It could not start, or stopped working. Without this method the error goes to standard
    /// error.
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error)
}

extension MCNearbyServiceAdvertiserDelegate {
    public func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error
    ) {
        report("\(advertiser.serviceType) is not advertised: \(error.localizedDescription)")
    }
}
