import NearbyCore
import NearbyWire

/// A whole node without its sockets: discovery, tie-break, channels, mesh and sessions composed.
///
/// Bytes, time and links come in through `handle`; bytes and events come out. What waits for
/// neighbours leaves with `flush`, which the shell calls once after each batch of inputs, so that
/// frames for one next hop coalesce and nothing waits while the link is idle.
public struct Node {
    let configuration: NodeConfiguration
    let cryptography: any Cryptography
    let own: PeerID
    let beaconKeys: [[UInt8]]
    var random: SeededGenerator

    var discovery: DiscoveryMachine
    var invitation: InvitationMachine
    var routing: RoutingMachine
    var collectorChoice: CollectorChoice
    var refused = RefusedNodes()
    var book = NodeBook()

    /// Our links that are up.
    var links: [LinkID: LinkClass] = [:]
    /// What discovery knows of the peers that it announced.
    var sightings: [PeerID: Sighting] = [:]
    var channels: ChannelMachine
    /// The channel that carries a peer's traffic, and the session over it.
    var associations: [PeerID: Association] = [:]
    var reliableNumbers: [PeerID: ReliableNumbers] = [:]
    var neighbours: [PeerID: Neighbour] = [:]
    /// Of neighbours, channels and associations.
    let timers = NodeTimers()
    var peersByShortID: [ShortID: PeerID] = [:]
    /// Those to whom readings are addressed: the chosen collector and at most `viewersMax` viewers.
    var calls: [PeerID: Call] = [:]
    var viewerPlaces: ViewerPlaces
    /// Neighbours with frames waiting, in the order of their first frame.
    var waiting: [PeerID] = []
    var drops = DropCounters()
    var outputs: [Output] = []
    var isStopped = false
    var unknownChannels = UnknownChannels()
    var announced = Announced()
    /// Between handshakes with those who send beacons in our name.
    var clonePause = GrowingPause(
        first: Limits.clonePauseFirst, longest: Limits.clonePauseMax)
    /// Invitations that wait for an answer on a link of an open channel.
    var resumptions: [PeerID: Resumption] = [:]

    /// What the program, and what beacons, were told last.
    struct Announced {
        var collector: PeerID?
        var viewers: [PeerID] = []
        var state: DiscoveryMachine.OwnState?
    }

    public init(_ configuration: NodeConfiguration, cryptography: any Cryptography) {
        self.configuration = configuration
        self.cryptography = cryptography
        own = cryptography.ownPeer
        beaconKeys = configuration.secrets.map {
            cryptography.deriveKey(from: $0, purpose: "rivulet beacon")
        }
        random = SeededGenerator(seed: configuration.seed)
        discovery = Self.makeDiscovery(configuration, own: own, seed: random.next())
        invitation = InvitationMachine(
            own: own, role: configuration.role, seed: random.next())
        routing = RoutingMachine(
            own: own, kind: DestinationKind(configuration.role), forwards: configuration.forwards,
            firstSeqno: UInt32.random(in: 1...Limits.firstSeqnoMax, using: &random))
        collectorChoice = CollectorChoice()
        viewerPlaces = ViewerPlaces(scatter: configuration.seed)
        channels = ChannelMachine(
            terms: AdmissionTerms(configuration, cryptography), cryptography: cryptography,
            inboundLimit: configuration.role.collects
                ? Limits.collectorHandshakesMax : Limits.agentHandshakesMax,
            timers: timers)
    }

    /// Takes one input; the outputs so far wait for `flush`.
    public mutating func handle(_ input: Input, now: Instant) {
        guard !isStopped else { return }
        switch input {
        case .start: start(now)
        case .linkUp(let link, let kind): linkUp(link, kind, now)
        case .linkDown(let link): linkDown(link, now)
        case .datagram(let bytes, let source, let isMulticast):
            received(bytes, Arrival(path: .link(source)), isMulticast: isMulticast, now)
        case .staticPeers(let endpoints):
            interpret(discovery.handle(.staticPeers(endpoints), now: now), now)
        case .rememberedPeers(let endpoints):
            interpret(discovery.handle(.rememberedPeers(endpoints), now: now), now)
        case .advertisedPeers(let endpoints, let service):
            interpret(discovery.handle(.advertisedPeers(endpoints, by: service), now: now), now)
        case .sendUnreliable(let message, let peer, let priority):
            sendUnreliable(message, to: peer, priority, now)
        case .sendReliable(let message, let peer): sendReliable(message, to: peer, now)
        case .deadlineReached: deadlineReached(now)
        case .stop: stop(now)
        }
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
        var earliest = min(
            discovery.nextDeadline ?? .distantFuture, invitation.nextDeadline ?? .distantFuture,
            routing.nextDeadline ?? .distantFuture, collectorChoice.nextDeadline ?? .distantFuture,
            book.nextDeadline ?? .distantFuture, viewerPlaces.nextDeadline ?? .distantFuture,
            timers.earliest(deadline(of:)) ?? .distantFuture)
        for resumption in resumptions.values { earliest = min(earliest, resumption.until) }
        for call in calls.values { earliest = min(earliest, call.nextAttempt ?? .distantFuture) }
        return earliest == .distantFuture ? nil : earliest
    }

    private func deadline(of timer: NodeTimers.Timer) -> Instant? {
        switch timer {
        case .neighbour(let peer): neighbours[peer]?.nextDeadline
        case .channel(let token): channels[token]?.nextDeadline
        case .association(let peer): associations[peer]?.nextDeadline
        }
    }

    // MARK: Inputs that concern several rooms

    private mutating func start(_ now: Instant) {
        interpret(discovery.handle(.start, now: now), now)
        presenceChanged(now)
    }

    private mutating func linkUp(_ link: LinkID, _ kind: LinkClass, _ now: Instant) {
        links[link] = kind
        interpret(
            discovery.handle(
                .linkUp(link, hasBroadcast: configuration.sendsBeacons && kind != .bluetooth),
                now: now), now)
    }

    private mutating func linkDown(_ link: LinkID, _ now: Instant) {
        links[link] = nil
        interpret(discovery.handle(.linkDown(link), now: now), now)
        for neighbour in neighbours.values.sorted(by: { $0.peer < $1.peer }) {
            interpret(neighbour.ways.handle(.linkDown(link), now: now), of: neighbour, now)
        }
    }

    private mutating func deadlineReached(_ now: Instant) {
        if isDue(discovery.nextDeadline, now) {
            interpret(discovery.handle(.deadlineReached, now: now), now)
        }
        if isDue(invitation.nextDeadline, now) {
            interpret(invitation.handle(.deadlineReached, now: now), now)
        }
        if isDue(routing.nextDeadline, now) {
            interpret(routing.handle(.deadlineReached, now: now), now)
        }
        if isDue(collectorChoice.nextDeadline, now) {
            interpret(collectorChoice.handle(.deadlineReached, now: now), now)
        }
        if isDue(book.nextDeadline, now) { interpret(book.deadlineReached(now: now)) }
        for timer in timers.takeDue(now: now, deadline(of:)) where isDue(deadline(of: timer), now) {
            switch timer {
            case .neighbour(let peer): neighbourDeadlineReached(peer, now)
            case .channel(let token): channelDeadlineReached(token, now)
            case .association(let peer): associationDeadlineReached(peer, now)
            }
        }
        for (peer, resumption) in resumptions.sorted(by: { $0.key < $1.key })
        where resumption.until <= now {
            resumptions[peer] = nil
            interpret(invitation.handle(.failed(peer, resumption.attempt), now: now), now)
        }
        callIfDue(now)
    }

    private func isDue(_ deadline: Instant?, _ now: Instant) -> Bool {
        deadline ?? .distantFuture <= now
    }

    private mutating func stop(_ now: Instant) {
        for peer in associations.keys.sorted() {
            enqueue(CloseFrame(reason: .leaving).bytes, to: peer, .control, now)
        }
        flushNeighbours(now)
        interpret(discovery.handle(.stop, now: now), now)
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
