import NearbyCore
import NearbyWire

extension Node {
    func perform(_ work: Work, _ now: Instant) {
        switch work {
        case .frame(let payload, let channel, let arrival):
            received(payload, on: channel, arrival, now)
        case .rendezvous(let output): perform(output, now)
        case .channel(let output): perform(output, now)
        case .peers(let output): perform(output, now)
        case .mesh(let output): perform(output, now)
        case .rendezvousIsDue: tellRendezvous(.deadlineReached, now)
        case .meshIsDue: tellMesh(.deadlineReached, now)
        case .timer(let timer): due(timer, now)
        }
    }

    // MARK: Telling a machine, whose outputs wait for their turn

    // Each once in the program, however many places call it: it copies what the machine sees.

    @inline(never) func tellRendezvous(_ input: RendezvousMachine.Input, _ now: Instant) {
        let view = RendezvousMachine.View(links: links, peers: peers)
        work.add(rendezvous.handle(input, seeing: view, now: now), as: Work.rendezvous)
    }

    func tellDiscovery(_ input: DiscoveryMachine.Input, _ now: Instant) {
        tellRendezvous(.discovery(input), now)
    }

    func tellInvitation(_ input: InvitationMachine.Input, _ now: Instant) {
        tellRendezvous(.invitation(input), now)
    }

    @inline(never) func tellChannels(_ input: ChannelMachine.Input, _ now: Instant) {
        let outputs = channels.handle(
            input, peers: peers, discovery: rendezvous.discovery, routing: mesh.routing,
            hasRoute: mesh.costToCollector != nil, now: now)
        work.add(outputs, as: Work.channel)
    }

    @inline(never) func tellMesh(_ input: MeshMachine.Input, _ now: Instant) {
        let outputs = mesh.handle(
            input, peers: peers, discovery: rendezvous.discovery, now: now)
        work.add(outputs, as: Work.mesh)
    }

    func tellRouting(_ input: RoutingMachine.Input, _ now: Instant) {
        tellMesh(.routing(input), now)
    }

    @inline(never) func tell(_ input: PeerMachine.Input, _ now: Instant) {
        let view = PeerMachine.View(links: links, isFull: rendezvous.invitation.isFull)
        work.add(peering.handle(input, seeing: view, now: now), as: Work.peers)
    }

    func tell(_ neighbour: Neighbour, _ input: HopMachine.Input, _ now: Instant) {
        tell(.hop(input, of: neighbour), now)
    }

    func tell(_ association: Association, _ input: Association.Input, _ now: Instant) {
        tell(.association(input, of: association), now)
    }
}
