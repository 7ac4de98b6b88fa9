import NearbyCore
import NearbyWire

/// A whole node without its sockets: discovery, tie-break, channels, mesh and sessions composed.
///
/// Bytes, time and links come in through `handle`; bytes and events come out. What waits for
/// neighbours leaves with `flush`, which the shell calls once after each batch of inputs, so that
/// frames for one next hop coalesce and nothing waits while the link is idle.
public struct Node {
    let configuration: NodeConfiguration
    let own: PeerID
    let beacons: BeaconCodec
    var random: SeededGenerator

    var discovery: DiscoveryMachine
    var invitation: InvitationMachine
    var channels: ChannelMachine
    var routing: RoutingMachine
    var addressees: AddresseeMachine
    var peers = Peers()
    var refused = RefusedNodes()
    var book = NodeBook()
    /// Of neighbours, channels and associations.
    let timers = NodeTimers()
    var work = WorkStack<Work>()

    /// Our links that are up.
    var links: [LinkID: LinkClass] = [:]
    /// What beacons were told of us last.
    var presence: DiscoveryMachine.OwnState?
    /// Between handshakes with those who send beacons in our name.
    var clonePause = GrowingPause(
        first: Limits.clonePauseFirst, longest: Limits.clonePauseMax)
    var drops = DropCounters()
    private var outputs: [Output] = []
    private var isStopped = false

    public init(_ configuration: NodeConfiguration, cryptography: any Cryptography) {
        self.configuration = configuration
        own = cryptography.ownPeer
        beacons = BeaconCodec(configuration, cryptography)
        random = SeededGenerator(seed: configuration.seed)
        discovery = configuration.makeDiscovery(own: own, seed: random.next())
        invitation = InvitationMachine(
            own: own, role: configuration.role, seed: random.next())
        routing = RoutingMachine(
            own: own, kind: DestinationKind(configuration.role), forwards: configuration.forwards,
            firstSeqno: UInt32.random(in: 1...Limits.firstSeqnoMax, using: &random))
        addressees = AddresseeMachine(
            role: configuration.role, collectors: configuration.collectors,
            scatter: configuration.seed, seed: random.next())
        channels = ChannelMachine(
            terms: AdmissionTerms(configuration, cryptography), cryptography: cryptography,
            inboundLimit: configuration.role.collects
                ? Limits.collectorHandshakesMax : Limits.agentHandshakesMax,
            timers: timers)
    }

    /// Takes one input; the outputs so far wait for `flush`.
    public mutating func handle(_ input: Input, now: Instant) {
        guard !isStopped else { return }
        receive(input, now)
        settle(now)
    }

    /// Does what there is to be done.
    mutating func settle(_ now: Instant) {
        while let next = work.next() { perform(next, now) }
    }

    /// Seals what waits for each neighbour and hands over everything to be done.
    public mutating func flush(now: Instant) -> [Output] {
        flushNeighbours(now)
        defer { outputs.removeAll(keepingCapacity: true) }
        return outputs
    }

    mutating func transmit(_ transmission: Transmission) {
        outputs.append(.transmit(transmission))
    }

    mutating func tell(_ event: Event) { outputs.append(.event(event)) }

    /// When `deadlineReached` is wanted next.
    public var nextDeadline: Instant? {
        let earliest = min(
            discovery.nextDeadline ?? .distantFuture, invitation.nextDeadline ?? .distantFuture,
            routing.nextDeadline ?? .distantFuture, addressees.nextDeadline ?? .distantFuture,
            book.nextDeadline ?? .distantFuture, timers.earliest(deadline(of:)) ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }

    private func deadline(of timer: NodeTimers.Timer) -> Instant? {
        switch timer {
        case .neighbour(let peer): peers.neighbour(peer)?.hop.nextDeadline
        case .channel(let token): channels[token]?.nextDeadline
        case .association(let peer): peers[peer]?.nextDeadline
        }
    }

    // MARK: Inputs

    private mutating func receive(_ input: Input, _ now: Instant) {
        switch input {
        case .start:
            tellDiscovery(.start, now)
            presenceChanged(now)
        case .linkUp(let link, let kind):
            links[link] = kind
            let hasBroadcast = configuration.sendsBeacons && kind != .bluetooth
            tellDiscovery(.linkUp(link, hasBroadcast: hasBroadcast), now)
        case .linkDown(let link):
            links[link] = nil
            tellDiscovery(.linkDown(link), now)
            for neighbour in peers.neighbourList { tell(neighbour, .linkDown(link), now) }
        case .datagram(let bytes, let source, let isMulticast):
            received(bytes, Arrival(path: .link(source)), isMulticast: isMulticast, now)
        case .staticPeers(let endpoints): tellDiscovery(.staticPeers(endpoints), now)
        case .rememberedPeers(let endpoints): tellDiscovery(.rememberedPeers(endpoints), now)
        case .advertisedPeers(let endpoints, let service):
            tellDiscovery(.advertisedPeers(endpoints, by: service), now)
        case .sendUnreliable(let message, let peer, let priority):
            guard let association = peers[peer] else { return drops.count(.packetNoRoute) }
            tell(association, .sendUnreliable(message, priority), now)
        case .sendReliable(let message, let peer):
            guard let association = peers[peer] else { return drops.count(.packetNoRoute) }
            tell(association, .sendReliable(peers.number(message, for: peer)), now)
        case .deadlineReached: deadlineReached(now)
        case .stop: stop(now)
        }
    }

    private mutating func deadlineReached(_ now: Instant) {
        for machine in Work.Machine.allCases { work.add(.due(machine)) }
        for timer in timers.takeDue(now: now, deadline(of:)) { work.add(.timer(timer)) }
    }

    /// Each machine has its turn when what the one before it said was done.
    mutating func due(_ machine: Work.Machine, _ now: Instant) {
        switch machine {
        case .discovery where isDue(discovery.nextDeadline, now):
            tellDiscovery(.deadlineReached, now)
        case .invitation where isDue(invitation.nextDeadline, now):
            tellInvitation(.deadlineReached, now)
        case .routing where isDue(routing.nextDeadline, now): tellRouting(.deadlineReached, now)
        case .addressees where isDue(addressees.nextDeadline, now):
            tellAddressees(.deadlineReached, now)
        case .book where isDue(book.nextDeadline, now):
            work.add(book.deadlineReached(now: now), as: Work.book)
        default: break
        }
    }

    mutating func due(_ timer: NodeTimers.Timer, _ now: Instant) {
        guard isDue(deadline(of: timer), now) else { return }
        switch timer {
        case .neighbour(let peer):
            if let neighbour = peers.neighbour(peer) { tell(neighbour, .deadlineReached, now) }
        case .channel(let token): channelDeadlineReached(token, now)
        case .association(let peer):
            if let association = peers[peer] { associationDeadlineReached(association, now) }
        }
    }

    private func isDue(_ deadline: Instant?, _ now: Instant) -> Bool {
        deadline ?? .distantFuture <= now
    }

    private mutating func stop(_ now: Instant) {
        for association in peers.associated {
            enqueue(CloseFrame(reason: .leaving).bytes, to: association.peer, .control, now)
        }
        flushNeighbours(now)
        tellDiscovery(.stop, now)
        isStopped = true
    }
}

extension Role {
    /// Whether readings are addressed to it.
    public var collects: Bool { self == .collector || self == .viewer }
}

extension AdmissionTerms {
    init(_ configuration: NodeConfiguration, _ cryptography: any Cryptography) {
        let keys = configuration.secrets.map {
            cryptography.deriveKey(from: $0, purpose: "rivulet admission")
        }
        self.init(
            trust: keys.isEmpty ? .any : .secret(keys: keys), versions: WireVersion.spoken,
            preference: configuration.preference, role: configuration.role,
            run: configuration.run, name: configuration.name, hasRoute: false, neighbourCount: 0,
            software: configuration.software)
    }
}

extension DestinationKind {
    init(_ role: Role) {
        switch role {
        case .agent, .relay: self = .node
        case .collector: self = .collector
        case .viewer: self = .viewer
        }
    }
}

extension Limits {
    /// A run's first seqno is drawn from 1 to this.
    static let firstSeqnoMax: UInt32 = 1 << 24
}
