import NearbyCore
import NearbyWire

/// What a node does for applications, as words to its machines; nothing in one that serves none.
struct ApplicationDials {
    enum Input {
        case program(ApplicationInput)
        /// An attempt at a channel with this peer ended so.
        case refused(PeerID, DropReason)
        /// Nodes that were behind others are out of reach of everybody.
        case vanished([PeerID])
    }

    enum Output {
        case rendezvous(RendezvousMachine.Input)
        case addressees(AddresseeMachine.Input)
        case channels(ChannelMachine.Input)
        case event(NodeEvent)
    }

    private let own: PeerID
    private let isServing: Bool

    init(own: PeerID, _ configuration: NodeConfiguration) {
        self.own = own
        isServing = configuration.application != nil
    }

    func handle(_ input: Input, peers: Peers, now: Instant) -> [Output] {
        guard isServing else { return [] }
        switch input {
        case .program(let input): return perform(input, peers, now)
        case .refused(let peer, let reason):
            guard let cause = RefusedNode.Cause(reason) else { return [] }
            return [.event(.application(.refused(peer, cause)))]
        // People look at a list: who is out of reach is not in sight either.
        case .vanished(let gone): return gone.map { .rendezvous(.discovery(.forget($0))) }
        }
    }

    private func perform(_ input: ApplicationInput, _ peers: Peers, _ now: Instant) -> [Output] {
        switch input {
        case .dial(let peer):
            return peer == own ? [] : dialed(peer, true)
        case .release(let peer):
            let outputs = dialed(peer, false) + [.channels(.abandonDials(to: peer))]
            guard let association = peers[peer], !peers.isNeighbour(peer) else { return outputs }
            return outputs + [.channels(.close(association.channel, .leaving))]
        case .advertise(let info): return [.rendezvous(.advertise(info))]
        case .prefer(let preference):
            return [.channels(.prefer(preference)), .rendezvous(.prefer(preference))]
        case .encrypt(let peer):
            if let association = peers[peer], association.channel.seal?.isEncrypted == false {
                association.renewKeys(from: now)
            }
            return []
        }
    }

    private func dialed(_ peer: PeerID, _ isDialed: Bool) -> [Output] {
        [
            .rendezvous(.invitation(.dialed(peer, isDialed))),
            .addressees(.dialed(peer, isDialed)),
        ]
    }
}
