import NearbyCertificates
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyGroups
import NearbyLinux
import NearbyWire

/// One of our own peers: its sessions, and a node for each service that is advertised or browsed.
///
/// Whatever comes in ends with `settle`: what nodes and sessions tell each other is carried out
/// until nobody has anything more to say.
final class Station {
    /// A channel over which a peer's sessions are reached.
    struct Carrier {
        let node: ServiceNode
        let run: RunID
        let isEncrypted: Bool
    }

    struct Awaited: Hashable {
        let session: SessionNumber
        let peer: PeerID
    }

    let own: OwnPeer
    /// Called when there may be nothing more to do.
    var onIdle: (() -> Void)?
    var group: GroupMachine
    var nodes: [ServiceNode] = []
    /// Those that are used: opened with the group.
    var sessions: [SessionNumber: OpenedSession] = [:]
    /// Whose connection data were handed out.
    var offered: Set<SessionNumber> = []
    var advertisers: [Advertised] = []
    var browsers: [BrowserView] = []
    var collectorViews: [CollectorView] = []
    var carriers: [PeerID: Carrier] = [:]
    /// Peers that the nodes were told to call.
    var called: Set<PeerID> = []
    /// Those that were called only to hear their names.
    var lookedUp: [PeerID: LookUp] = [:]
    var awaited: [Awaited: [Reply<Void>]] = [:]
    /// Invitations that the program has, until they are withdrawn or let go.
    var invitations: [InvitationID: WeakInvitation] = [:]
    var names: PeerNames
    /// Members that are being connected, and whose names we do not know yet: the program is told
    /// with the name.
    var unnamed: Set<Awaited> = []
    /// Streams and resources.
    private(set) lazy var transfers = TransferDesk(self)
    /// Something is to be tidied: sessions, members or what is used may be others.
    var isGroupChanged = false
    private(set) var drops = DropCounters()
    let identity: NearbyDTLS.Identity
    let usesBluetooth: Bool
    let loop: EventLoop
    /// A command is half done: what it needs is not yet known to be in use.
    var isCarryingOut = false
    private var timer: EventLoop.TimerID?
    /// For files that are read or hashed: others have their turn in between.
    private var fileTimer: EventLoop.TimerID?

    init(_ own: OwnPeer, usesBluetooth: Bool, loop: EventLoop) throws(NearbyError) {
        guard let identity = NearbyDTLS.Identity(pem: own.pem) else {
            throw NearbyError(.invalidParameter, "\(own.peer): the key is damaged")
        }
        self.own = own
        self.identity = identity
        self.usesBluetooth = usesBluetooth
        self.loop = loop
        names = PeerNames(own: own.peer)
        var random = SystemRandomNumberGenerator()
        group = GroupMachine(
            own: own.peer.id, verifier: CertificateCheck(), seed: random.next())
        timer = loop.addTimer { [unowned self] now in
            tellGroup(.deadlineReached, now)
            transfers.deadlineReached(now)
            settle(now)
        }
        fileTimer = loop.addTimer { [unowned self] now in
            transfers.workOnFiles(now)
            settle(now)
        }
    }

    /// Nothing is started, and no session has members or waits for some.
    var isIdle: Bool {
        advertisers.isEmpty && browsers.isEmpty && collectorViews.isEmpty && offered.isEmpty
            && awaited.isEmpty && !sessions.keys.contains(where: group.status.isActive)
    }

    /// The process ends: everybody is told.
    func stopAll(_ now: Instant) {
        for number in sessions.keys.sorted() { tellGroup(.close(number), now) }
        settle(now)
        close()
    }

    /// Frees everything.
    func close() {
        let now = MonotonicClock.now()
        for node in nodes { node.stop(now) }
        nodes = []
        for timer in [timer, fileTimer] { if let timer { loop.removeTimer(timer) } }
        (timer, fileTimer) = (nil, nil)
        transfers.abandonAll(now)
        let ended = NearbyError(.cancelled, "everything was stopped")
        for reply in awaited.values.joined() { reply.resolve(.failure(ended)) }
        awaited = [:]
    }

    // MARK: What follows from an input

    /// Bounded, should two parts never agree.
    func settle(_ now: Instant) {
        for _ in 0..<Self.roundsMax where settleOnce(now) {}
        if isGroupChanged, !isCarryingOut {
            isGroupChanged = false
            releaseCalls(now)
            transfers.tidy(now)
            tidyNodes(now)
            if isIdle { onIdle?() }
        }
        for node in nodes { node.wake() }
        if let timer {
            let deadline = min(group.nextDeadline ?? .distantFuture, transfers.nextDeadline)
            loop.set(timer, to: deadline == .distantFuture ? nil : deadline)
        }
        if let fileTimer, transfers.isBusy { loop.set(fileTimer, to: .zero) }
        updateRoom()
    }

    /// - Returns: whether something happened.
    private func settleOnce(_ now: Instant) -> Bool {
        var events: [(ServiceNode, Node.Event)] = []
        for node in nodes {
            for output in node.node.flush(now: now) {
                switch output {
                case .transmit(let transmission): node.carryOut(transmission, now)
                case .event(let event): events.append((node, event))
                }
            }
        }
        for (node, event) in events { interpret(event, of: node, now) }
        return !events.isEmpty
    }

    private func updateRoom() {
        guard let room = Background.shared.room(of: own.peer.id) else { return }
        for peer in room.queuedPeers {
            room.update(peer, queued: carriers[peer]?.node.queuedBytes(for: peer) ?? 0)
        }
    }

    func count(_ reason: DropReason) { drops.count(reason) }

    // MARK: Nodes

    /// The node of a service, made where there is none.
    /// The first beacons already show the info.
    func node(
        for service: Service, advertising info: DiscoveryInfo? = nil, _ now: Instant
    ) throws(NearbyError) -> ServiceNode {
        if let node = nodes.first(where: { $0.service == service }) { return node }
        guard nodes.count < Limits.serviceNodesMax else {
            throw NearbyError(
                .unavailable,
                "a peer uses at most \(Limits.serviceNodesMax) services at a time: stop some")
        }
        let node = try ServiceNode(
            service, of: own.peer, identity, Background.shared.preference(of: own.peer.id),
            usesBluetooth: usesBluetooth && service.isDiscoverable
                && !nodes.contains { $0.service.isDiscoverable }, loop: loop)
        node.onInputs = { [unowned self] node, inputs, now in
            for input in inputs { node.node.handle(input, now: now) }
            settle(now)
        }
        nodes.append(node)
        do throws(NearbyError) {
            try node.start(advertising: info, now)
        } catch {
            nodes.removeAll { $0 === node }
            throw error
        }
        for peer in called.sorted() { node.node.handle(.application(.call(peer)), now: now) }
        return node
    }

    /// A node stays while its service is used, and while sessions have members, whom it may carry.
    private func tidyNodes(_ now: Instant) {
        let isActive = !offered.isEmpty || sessions.keys.contains(where: group.status.isActive)
        guard !isActive, !nodes.isEmpty else { return }
        let used =
            advertisers.map(\.service) + browsers.map(\.browsed.service)
            + collectorViews.map(\.linked.service)
        for node in nodes where !used.contains(node.service) {
            node.stop(now)
            for peer in node.channels.keys { carrierLost(peer, of: node, now) }
        }
        nodes.removeAll { !used.contains($0.service) }
    }

    private static let roundsMax = 1_000
}

extension Limits {
    /// Services that one peer advertises or browses at a time.
    static let serviceNodesMax = 16
}

/// An invitation that the program may have let go.
struct WeakInvitation {
    weak var invitation: Invitation?
}

/// What peers call themselves, of those that were seen or connected; the oldest are forgotten.
struct PeerNames {
    private var names: [PeerID: String] = [:]
    private let own: Peer

    init(own: Peer) { self.own = own }

    mutating func learn(_ peer: PeerID, _ name: String?) {
        guard let name, names[peer] != name else { return }
        // Who matters is learnt anew with its next channel or beacon.
        if names.count >= Self.namesMax { names = [:] }
        names[peer] = name
    }

    func knows(_ id: PeerID) -> Bool { names[id] != nil }

    func peer(_ id: PeerID) -> Peer {
        id == own.id ? own : Peer(displayName: names[id] ?? id.description, id: id)
    }

    private static let namesMax = 4_096
}
