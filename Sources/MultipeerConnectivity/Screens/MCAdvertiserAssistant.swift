import Foundation
import Nearby

/// Advertises a session and asks the person in front of the machine about invitations: in the
/// terminal, or through a closure.
open class MCAdvertiserAssistant: NSObject, @unchecked Sendable {
    /// Where those go who are let in.
    open private(set) var session: MCSession
    /// What browsers are shown.
    open private(set) var discoveryInfo: [String: String]?
    /// As it was given; capitals do not matter.
    open private(set) var serviceType: String

    private let advertiser: MCNearbyServiceAdvertiser
    private let delegateReference = Delegate()
    private let handler = Guarded<InvitationHandler?>(nil)

    /// Asks about an invitation: who invites, the context, and what to call with the answer.
    public typealias InvitationHandler = (MCPeerID, Data?, @escaping (Bool) -> Void) -> Void

    /// Advertises the session's peer, from `start()` on.
    public init(
        serviceType: String, discoveryInfo info: [String: String]?, session: MCSession
    ) {
        self.session = session
        self.serviceType = serviceType
        discoveryInfo = info
        advertiser = MCNearbyServiceAdvertiser(
            peer: session.myPeerID, discoveryInfo: info, serviceType: serviceType)
        super.init()
        advertiser.invitationTaker.with {
            $0 = { [weak self] invitation in self?.present(invitation) }
        }
    }

    /// Of no service, so that it does not start: programs fill a property with it until they have
    /// the real one.
    public override convenience init() {
        self.init(serviceType: "", discoveryInfo: nil, session: MCSession())
    }

    /// Whom the assistant tells what happens. Weak.
    open weak var delegate: (any MCAdvertiserAssistantDelegate)? {
        get { delegateReference.current as? any MCAdvertiserAssistantDelegate }
        set { delegateReference.current = newValue }
    }

    /// Asks in place of the terminal: for programs that read the terminal themselves, or have none.
    /// Called on a private queue. Not in Apple's framework.
    open var invitationHandler: InvitationHandler? {
        get { handler.with { $0 } }
        set { handler.with { $0 = newValue } }
    }

    /// Begins to advertise, and to ask.
    open func start() { advertiser.startAdvertisingPeer() }

    /// Ends it; questions that are open can still be answered.
    open func stop() { advertiser.stopAdvertisingPeer() }

    private func present(_ invitation: Invitation) {
        delegate?.advertiserAssistantWillPresentInvitation(self)
        let session = session
        let answer = PendingAnswer(isTrueWithoutAnswer: false) { [weak self] isAccepted in
            invitation.answer(isAccepted, with: session)
            guard let self else { return }
            delegate?.advertiserAssistantDidDismissInvitation(self)
        }
        if let invitationHandler {
            invitationHandler(MCPeerID(invitation.peer), invitation.data) { answer.give($0) }
        } else {
            Questions.atTerminal.ask(
                "\(invitation.peer.displayName.printable) wants to connect with you. Accept?",
                isOpen: { !invitation.isWithdrawn }, answer: answer)
        }
    }
}

/// What an assistant tells. Called on a private queue.
public protocol MCAdvertiserAssistantDelegate: NSObjectProtocol {
    /// The person is about to be asked.
    func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant)

    /// The person has answered.
    func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant)
}

extension MCAdvertiserAssistantDelegate {
    public func advertiserAssistantWillPresentInvitation(
        _ advertiserAssistant: MCAdvertiserAssistant
    ) {}

    public func advertiserAssistantDidDismissInvitation(
        _ advertiserAssistant: MCAdvertiserAssistant
    ) {}
}
