import NearbyCore
import NearbyWire

/// A whole node without its sockets: discovery, tie-break, channels, mesh and sessions composed.
///
/// Bytes, time and links come in through `handle`; bytes and events come out. What waits for
/// neighbours leaves with `flush`, which the shell calls once after each batch of inputs, so that
/// frames for one next hop coalesce and nothing waits while the link is idle.
///
/// The machines are changed in this file only: the extensions say what becomes of what a machine
/// said, and tell the others.
///
/// A class: nobody copies a node, and as a value it would bring code that does.
public final class Node {
    public typealias Input = NodeInput
    public typealias Output = NodeOutput
    public typealias Event = NodeEvent
    public typealias Diagnostic = NodeDiagnostic
    typealias Work = NodeWork

    public let configuration: NodeConfiguration
    let own: PeerID
    private var random: SeededGenerator

    private(set) var rendezvous: RendezvousMachine
    private(set) var channels: ChannelMachine
    private(set) var peering: PeerMachine
    private(set) var mesh: MeshMachine
    private(set) var echoes: EchoMachine
    private let applications: ApplicationDials
    /// Of neighbours, channels and associations.
    private let timers = NodeTimers()
    var outbox: Outbox
    var work = WorkStack<Work>()

    private(set) var links = LinkTable()
    private var isStopped = false

    public init(_ configuration: NodeConfiguration, cryptography: any Cryptography) {
        self.configuration = configuration
        own = cryptography.ownPeer
        outbox = Outbox(configuration, own: own)
        random = SeededGenerator(seed: configuration.seed)
        rendezvous = RendezvousMachine(configuration, cryptography, random: &random)
        peering = PeerMachine(own: own, configuration, timers: timers, seed: random.next())
        mesh = MeshMachine(configuration, own: own, random: &random)
        echoes = EchoMachine(own: own, name: configuration.name)
        applications = ApplicationDials(own: own, configuration)
        channels = ChannelMachine(
            terms: AdmissionTerms(configuration, cryptography), cryptography: cryptography,
            isDialed: configuration.role.collects || configuration.application != nil,
            timers: timers)
    }

    /// Takes one input; the outputs so far wait for `flush`.
    public func handle(_ input: Input, now: Instant) {
        guard !isStopped else { return }
        receive(input, now)
        settle(now)
    }

    /// Does what there is to be done.
    func settle(_ now: Instant) {
        while let next = work.next() { perform(next, now) }
    }

    /// Seals what waits for each neighbour and hands over everything to be done.
    public func flush(now: Instant) -> [Output] {
        flushNeighbours(now)
        return outbox.takeOutputs()
    }

    /// When `deadlineReached` is wanted next.
    public var nextDeadline: Instant? {
        let earliest = min(
            rendezvous.nextDeadline ?? .distantFuture, mesh.nextDeadline ?? .distantFuture,
            timers.earliest ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }

    // MARK: Inputs

    private func receive(_ input: Input, _ now: Instant) {
        switch input {
        case .start: tellDiscovery(.start, now)
        case .linkUp(let link, let kind):
            links.add(link, kind)
            let hasBroadcast = configuration.sendsBeacons && kind != .bluetooth
            tellDiscovery(.linkUp(link, hasBroadcast: hasBroadcast), now)
        case .linkDown(let link):
            links.remove(link)
            tellDiscovery(.linkDown(link), now)
            for neighbour in peers.neighbourList { tell(neighbour, .linkDown(link), now) }
        case .datagram(let bytes, let source, let isMulticast):
            received(bytes, Arrival(path: .link(source)), isMulticast: isMulticast, now)
        case .returned(let quote, let endpoint):
            if let input = outbox.returned(quote, of: endpoint, among: peers, now: now) {
                tell(input, now)
            }
        case .staticPeers(let endpoints): tellDiscovery(.staticPeers(endpoints), now)
        case .rememberedPeers(let endpoints): tellDiscovery(.rememberedPeers(endpoints), now)
        case .advertisedPeers(let endpoints, let service):
            tellDiscovery(.advertisedPeers(endpoints, by: service), now)
        case .sendUnreliable(let message, let peer, let priority):
            tell(.sendUnreliable(message, to: peer, priority), now)
        case .sendReliable(let message, let peer): tell(.sendReliable(message, to: peer), now)
        case .application(let input): tellApplication(.program(input), now)
        case .echo(let token, let peer, let limit):
            tellEchoes(.request(token, peer, limit), toward: peer.short, now)
        case .clock(let unixOffset): tellChannels(.clock(unixOffset: unixOffset), now)
        case .deadlineReached: deadlineReached(now)
        case .stop: stop(now)
        }
    }

    private func deadlineReached(_ now: Instant) {
        work.add(.rendezvousIsDue)
        work.add(.meshIsDue)
        for timer in timers.takeDue(now: now) { work.add(.timer(timer)) }
    }

    func due(_ timer: NodeTimers.Timer, _ now: Instant) {
        switch timer {
        case .neighbour(let peer):
            guard let neighbour = peers.neighbour(peer), neighbour.isDue(now) else { return }
            tell(neighbour, .deadlineReached, now)
        case .channel(let token):
            guard let channel = channels[token], channel.isDue(now) else { return }
            channelDeadlineReached(channel, now)
        case .association(let peer):
            guard let association = peers[peer], association.isDue(now) else { return }
            tell(association, .deadlineReached(isNeighbour: peers.isNeighbour(peer)), now)
        }
    }

    private func stop(_ now: Instant) {
        let goodbye = CloseFrame(reason: .leaving).bytes
        for association in peers.associated {
            enqueue(goodbye, to: association.peer, .control, now)
        }
        flushNeighbours(now)
        tellDiscovery(.stop, now)
        isStopped = true
    }

    // MARK: Telling a machine, whose outputs wait for their turn

    // Each once in the program, however many places call it: it copies what the machine sees.

    @inline(never) func tellRendezvous(_ input: RendezvousMachine.Input, _ now: Instant) {
        let view = RendezvousMachine.View(links: links, peers: peers) {
            self.mesh.routing.reach(via: $0, collectors: self.configuration.collectors)
        }
        work.add(rendezvous.handle(input, seeing: view, now: now), as: Work.rendezvous)
    }

    @inline(never) func tellChannels(_ input: ChannelMachine.Input, _ now: Instant) {
        let outputs = channels.handle(
            input, peers: peers, discovery: rendezvous.discovery, routing: mesh.routing,
            hasRoute: mesh.costToCollector != nil, now: now)
        work.add(outputs, as: Work.channel)
    }

    @inline(never) func tellMesh(_ input: MeshMachine.Input, _ now: Instant) {
        let heardSince = { self.rendezvous.discovery.heardSince($0) }
        work.add(mesh.handle(input, peers: peers, heardSince: heardSince, now: now), as: Work.mesh)
    }

    @inline(never) func tell(_ input: PeerMachine.Input, _ now: Instant) {
        let view = PeerMachine.View(
            links: links, isFull: { self.rendezvous.invitation.isFull },
            hasWay: { self.mesh.costToCollector != nil })
        work.add(peering.handle(input, seeing: view, now: now), as: Work.peers)
    }

    /// These only send, and tell: it is done at once.
    func tellEchoes(_ input: EchoMachine.Input, toward node: ShortID? = nil, _ now: Instant) {
        outbox.tell(&echoes, input, seeing: view(toward: node), links, now: now)
    }

    func tellApplication(_ input: ApplicationDials.Input, _ now: Instant) {
        for output in applications.handle(input, peers: peers, now: now) { perform(output, now) }
    }

    /// Opens a sealed frame in the buffer that it came in.
    func open(_ bytes: [UInt8], _ now: Instant) -> ChannelMachine.Opened {
        channels.open(bytes, now: now)
    }

    /// For a handshake: says which of two was begun first, to whoever sees both.
    func nonce() -> UInt32 { UInt32(truncatingIfNeeded: random.next()) }
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
            trust: Trust(keys: keys, membership: configuration.membership),
            versions: WireVersion.spoken, preference: configuration.preference,
            role: configuration.role, run: configuration.run, name: configuration.name,
            hasRoute: false, neighbourCount: 0, software: configuration.software)
    }
}
