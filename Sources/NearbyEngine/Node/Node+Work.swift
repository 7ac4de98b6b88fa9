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

    func perform(_ output: ApplicationDials.Output, _ now: Instant) {
        switch output {
        case .rendezvous(let input): tellRendezvous(input, now)
        case .addressees(let input): tellMesh(.addressees(input), now)
        case .channels(let input): tellChannels(input, now)
        case .event(let event): outbox.add(event)
        }
    }

    // MARK: Telling a part of a machine

    func tellDiscovery(_ input: DiscoveryMachine.Input, _ now: Instant) {
        tellRendezvous(.discovery(input), now)
    }

    func tellInvitation(_ input: InvitationMachine.Input, _ now: Instant) {
        tellRendezvous(.invitation(input), now)
    }

    func tellRouting(_ input: RoutingMachine.Input, _ now: Instant) {
        tellMesh(.routing(input), now)
    }

    func tell(_ neighbour: Neighbour, _ input: HopMachine.Input, _ now: Instant) {
        tell(.hop(input, of: neighbour), now)
    }

    func tell(_ association: Association, _ input: Association.Input, _ now: Instant) {
        tell(.association(input, of: association), now)
    }
}
