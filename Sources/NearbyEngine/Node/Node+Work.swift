import NearbyCore
import NearbyWire

extension Node {
    /// What one of the machines said, or is to be told, and nobody has acted on yet.
    enum Work {
        enum Machine: CaseIterable { case discovery, invitation, routing, addressees, book }

        /// An opened frame on a channel.
        case frame(ArraySlice<UInt8>, on: Channel, Arrival)
        case discovery(DiscoveryMachine.Output)
        case invitation(InvitationMachine.Output)
        case channel(ChannelMachine.Output)
        case hop(HopMachine.Output, of: Neighbour)
        /// `hops`: links that what is delivered has crossed.
        case session(SessionMachine.Output, of: Association, hops: Int)
        case routing(RoutingMachine.Output)
        case addressees(AddresseeMachine.Output)
        case book(NodeBook.Output)
        case due(Machine)
        case timer(NodeTimers.Timer)
        // Inputs that a machine has to hear after what others said before.
        case routingReceived(RoutingMessage, from: PeerID, on: Channel, counter: UInt64)
        case addresseesHear(AddresseeMachine.Input)
    }

    mutating func perform(_ work: Work, _ now: Instant) {
        switch work {
        case .frame(let payload, let channel, let arrival):
            received(payload, on: channel, arrival, now)
        case .discovery(let output): perform(output, now)
        case .invitation(let output): perform(output, now)
        case .channel(let output): perform(output, now)
        case .hop(let output, let neighbour):
            // It may be gone by now, or another.
            guard peers.neighbour(neighbour.peer) === neighbour else { return }
            perform(output, of: neighbour, now)
        case .session(let output, let association, let hops):
            perform(output, of: association, hops: hops, now)
        case .routing(let output): perform(output, now)
        case .addressees(let output): perform(output, now)
        case .book(let output): perform(output)
        case .due(let machine): due(machine, now)
        case .timer(let timer): due(timer, now)
        case .routingReceived(let message, let peer, let channel, let counter):
            routingReceived(message, from: peer, on: channel, counter, now)
        case .addresseesHear(let input): tellAddressees(input, now)
        }
    }

    // MARK: Telling a machine, whose outputs wait for their turn

    mutating func tellDiscovery(_ input: DiscoveryMachine.Input, _ now: Instant) {
        work.add(discovery.handle(input, now: now), as: Work.discovery)
    }

    mutating func tellInvitation(_ input: InvitationMachine.Input, _ now: Instant) {
        work.add(invitation.handle(input, now: now), as: Work.invitation)
    }

    mutating func tellChannels(_ input: ChannelMachine.Input, _ now: Instant) {
        work.add(channels.handle(input, now: now), as: Work.channel)
    }

    mutating func tellRouting(_ input: RoutingMachine.Input, _ now: Instant) {
        work.add(routing.handle(input, now: now), as: Work.routing)
    }

    mutating func tellAddressees(_ input: AddresseeMachine.Input, _ now: Instant) {
        let view = AddresseeMachine.View(routing: routing, peers: peers, discovery: discovery)
        work.add(addressees.handle(input, seeing: view, now: now), as: Work.addressees)
    }

    mutating func tell(_ neighbour: Neighbour, _ input: HopMachine.Input, _ now: Instant) {
        for output in neighbour.hop.handle(input, now: now) {
            work.add(.hop(output, of: neighbour))
        }
    }

    mutating func tell(
        _ association: Association, _ input: SessionMachine.Input, hops: Int = 1, _ now: Instant
    ) {
        for output in association.session.handle(input, now: now) {
            work.add(.session(output, of: association, hops: hops))
        }
    }
}
