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
    struct Awaited: Hashable {
        let session: SessionNumber
        let peer: PeerID
    }

    let own: OwnPeer
    /// Called when there may be nothing more to do.
    var onIdle: (() -> Void)?
    var group: GroupMachine
    let nodes: ServiceNodes
    /// Those that are used: opened with the group.
    var sessions: [SessionNumber: OpenedSession] = [:]
    /// Whose connection data were handed out.
    var offered: Set<SessionNumber> = []
    var advertisers: [Advertised] = []
    var browsers: [BrowserView] = []
    var collectors = CollectorViews()
    /// Of those who invited or connected, until the outcome is there: nil for all who do not wait.
    var awaited: [Awaited: [Reply<Void>?]] = [:]
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
    let loop: EventLoop
    /// A command is half done: what it needs is not yet known to be in use.
    var isCarryingOut = false
    private var timer: EventLoop.TimerID?
    /// For files that are read or hashed: others have their turn in between.
    private var fileTimer: EventLoop.TimerID?

    init(_ own: OwnPeer, usesBluetooth: Bool, loop: EventLoop) throws(NearbyError) {
        guard let identity = NodeIdentity(pem: own.pem) else {
            throw NearbyError(.invalidParameter, "\(own.peer): the key is damaged")
        }
        self.own = own
        self.loop = loop
        nodes = ServiceNodes(
            of: own.peer, identity, usesBluetooth: usesBluetooth, loop: loop)
        names = PeerNames(own: own.peer)
        var random = SystemRandomNumberGenerator()
        group = GroupMachine(
            own: own.peer.id, verifier: CertificateCheck(), seed: random.next())
        nodes.onInputs = { [unowned self] node, inputs, now in
            for input in inputs { node.node.handle(input, now: now) }
            settle(now)
        }
        nodes.onMessage = { [unowned self] in transfers.messagePassed($0) }
        nodes.onBulk = { [unowned self] in transfers.giveWay($0) }
        timer = loop.addTimer { [unowned self] now in
            tellGroup(.deadlineReached, now)
            transfers.deadlineReached(now)
            settle(now)
            transfers.giveWay(now)
        }
        fileTimer = loop.addTimer { [unowned self] now in
            transfers.workOnFiles(now)
            settle(now)
        }
    }

    /// Nothing is started, no session has members or waits for some, and nobody waits for us.
    var isIdle: Bool {
        advertisers.isEmpty && browsers.isEmpty && collectors.isEmpty && awaited.isEmpty
            && !isGroupActive && !nodes.isSaying
    }

    private var isGroupActive: Bool {
        !offered.isEmpty || group.status.isAsked
            || sessions.keys.contains(where: group.status.isActive)
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
        nodes.stopAll(now)
        for timer in [timer, fileTimer] { if let timer { loop.removeTimer(timer) } }
        (timer, fileTimer) = (nil, nil)
        transfers.abandonAll(now)
        let ended = NearbyError(.cancelled, "everything was stopped")
        for reply in awaited.values.joined() { reply?.resolve(.failure(ended)) }
        awaited = [:]
    }

    // MARK: What follows from an input

    /// Bounded, should two parts never agree.
    func settle(_ now: Instant) {
        var rounds = 0
        while rounds < Self.roundsMax, settleOnce(now) { rounds += 1 }
        if isGroupChanged || nodes.isStopDelayed, !isCarryingOut {
            isGroupChanged = false
            nodes.release(where: { !group.status.isInvolved($0) }, now)
            transfers.tidy(now)
            tidyNodes(now)
            if isIdle { onIdle?() }
        }
        for node in nodes.all { node.wake() }
        if let timer {
            let deadline = min(group.nextDeadline ?? .distantFuture, transfers.nextDeadline)
            loop.set(timer, to: deadline == .distantFuture ? nil : deadline)
        }
        if let fileTimer, transfers.isBusy { loop.set(fileTimer, to: .zero) }
        updateRoom()
    }

    /// - Returns: whether something happened.
    private func settleOnce(_ now: Instant) -> Bool {
        let events = nodes.flush(now)
        for (node, event) in events { interpret(event, of: node, now) }
        return !events.isEmpty
    }

    private func updateRoom() {
        guard let room = Background.shared.room(of: own.peer.id) else { return }
        for peer in room.queuedPeers {
            room.update(peer, queued: nodes.carriers[peer]?.node.queuedBytes(for: peer) ?? 0)
        }
    }

    func count(_ reason: DropReason) { drops.count(reason) }

    // MARK: Nodes

    /// A node stays while its service is used, and while it may carry members of sessions or the
    /// answer to an invitation.
    private func tidyNodes(_ now: Instant) {
        guard !isGroupActive, !nodes.all.isEmpty else { return }
        let used =
            advertisers.map(\.service) + browsers.map(\.browsed.service)
            + collectors.services
        for node in nodes.stop(but: used, now) {
            for peer in node.channels.keys { carrierLost(peer, of: node, now) }
        }
    }

    private static let roundsMax = 1_000
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
