import NearbyCore
import NearbyWire

/// Finds peers: says who was found, changed and lost, and makes this node known.
///
/// Beacons go out on every link after `Trickle`; a newcomer that wants us, or that we want, is
/// answered by unicast; discovery info is fetched behind its digest. Everything that comes in is a
/// hint from anybody: tables are bounded, work per frame is constant but for 50 displacements a
/// second, and a peer marked in use is neither displaced nor lost.
///
/// The node parses frames, and with a network secret verifies `proof`, before it hands them over;
/// it adds the proof to every frame that leaves. Unicast leaves from the data socket, so that its
/// source address is the way back.
struct DiscoveryMachine: Sendable {
    enum Input: Sendable {
        case start
        /// Says goodbye on every link.
        case stop
        /// A link came up. Without broadcast (a radio with its own discovery) no beacon goes out on
        /// it.
        case linkUp(LinkID, hasBroadcast: Bool)
        case linkDown(LinkID)
        /// `multicast`: it came on the beacon socket, by multicast or broadcast.
        case received(DiscoveryFrame, from: Endpoint, multicast: Bool)
        case ownChanged(OwnState)
        /// The node has the neighbours that it wants: advertise seldom.
        case content(Bool)
        /// A channel or a handshake with the peer exists, or no longer.
        case inUse(PeerID, Bool)
        case forget(PeerID)
        /// Configured addresses: beacons go there by unicast from the start.
        case staticPeers([Endpoint])
        /// All addresses that a service of the system names at present: beacons go there by unicast
        /// until one is heard from there.
        case advertisedPeers([Endpoint], by: AdvertisingService)
        /// Addresses of earlier runs: tried where multicast brings nothing for 3 s.
        case rememberedPeers([Endpoint])
        /// "I want you", for the peer at one of its addresses; without a peer, whoever is there
        /// sent a frame of a channel that we do not have.
        case nudge(PeerID?, attempt: UInt16, at: Endpoint, isCollector: Bool)
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        case multicast(DiscoveryFrame, on: LinkID)
        /// IPv4 broadcast beside the multicast, on a link where multicast brought nothing.
        case broadcast(DiscoveryFrame, on: LinkID)
        case unicast(DiscoveryFrame, to: Endpoint)
        /// At once at the first beacon and at each that says something new, before the info is
        /// there: for the tie-break, as `forgotten`. `found`, `changed`, `lost` are for people and
        /// programs.
        case heard(Sighting)
        /// A peer that was heard left the table.
        case forgotten(PeerID)
        /// With the info, or without it after `infoTimeout`; `changed` follows when it came.
        case found(Sighting)
        /// At most once a second for one peer.
        case changed(Sighting)
        case lost(PeerID)
        /// It wants us to invite. Unproved, but in the table: `heard` came before.
        case nudged(PeerID, RunID, attempt: UInt16)
        /// The nudge to this peer may not leave now.
        case nudgeHeldBack(PeerID)
        /// Somebody uses our own PeerID with another run: a clone, or a replay of our past. With
        /// the address where it listens; at most every 10 s.
        case suspicion(RunID, from: Endpoint)
        case drop(DropReason)
    }

    typealias OwnState = DiscoveryOwnState
    typealias Identity = DiscoveryIdentity

    let identity: Identity
    var own: OwnState
    var isRunning = false
    var isContent = false
    var links: BeaconSchedule
    var statics: ProbeSchedule
    var table: PeerTable
    var budget: SendBudget
    var nudgeShares = NudgeShares()
    var generator: SeededGenerator
    var lastSuspicion: Instant?

    init(identity: Identity, own: OwnState, seed: UInt64) {
        self.identity = identity
        self.own = own
        links = BeaconSchedule(longest: identity.beaconInterval)
        statics = ProbeSchedule(longest: identity.beaconInterval)
        table = PeerTable(beaconInterval: identity.beaconInterval)
        budget = SendBudget(identity.rate)
        generator = SeededGenerator(seed: seed)
    }

    /// When `deadlineReached` wants to be called; nil before `start`.
    var nextDeadline: Instant? {
        guard isRunning else { return nil }
        let earliest = min(table.wake, links.due, statics.due)
        return earliest == .distantFuture ? nil : earliest
    }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .start: start(now)
        case .stop: outputs = stop()
        case .linkUp(let link, let hasBroadcast):
            outputs = linkUp(link, hasBroadcast: hasBroadcast, now)
        case .linkDown(let link): outputs = linkDown(link, now)
        case .received(let frame, let source, let multicast):
            if isRunning { outputs = receive(frame, from: source, multicast: multicast, now) }
        case .ownChanged(let state): ownChanged(to: state, now)
        case .content(let content): contentChanged(to: content, now)
        case .inUse(let peer, let isInUse): outputs = setInUse(peer, isInUse, now)
        case .forget(let peer):
            if let position = table.index(of: peer) { outputs = remove(at: position) }
        case .staticPeers(let endpoints):
            statics.setPeers(endpoints, kind: .configured, now: now)
        case .advertisedPeers(let endpoints, let service):
            statics.setPeers(endpoints, kind: .advertised(service), now: now)
        case .rememberedPeers(let endpoints):
            statics.setPeers(endpoints, kind: .remembered, now: now)
        case .nudge(let peer, let attempt, let endpoint, let isCollector):
            outputs = nudge(peer, attempt: attempt, at: endpoint, isCollector, now)
        case .deadlineReached: break
        }
        if isRunning { outputs += serviceDeadlines(now) }
        return outputs
    }

    /// Anybody can send frames of unknown channels: the answers are counted apart.
    private mutating func nudge(
        _ peer: PeerID?, attempt: UInt16, at endpoint: Endpoint, _ isCollector: Bool,
        _ now: Instant
    ) -> [Output] {
        let wanted: SendBudget.Kind = isCollector ? .collectorNudge : .nudge
        guard take(peer == nil ? .unknownChannel : wanted, to: endpoint.address, now) else {
            return [.drop(.beaconAnswerRate)] + (peer.map { [.nudgeHeldBack($0)] } ?? [])
        }
        return [.unicast(frame(.nudge(attempt: attempt)), to: endpoint)]
    }

    func sighting(of peer: PeerID) -> Sighting? {
        table.index(of: peer).map { table[$0].sighting }
    }

    /// When its present run was heard first.
    func heardSince(_ peer: PeerID) -> Instant? { table.runSince(of: peer) }

    /// Whether the peer was heard there.
    func knows(_ endpoint: Endpoint, of peer: PeerID) -> Bool {
        table.index(of: peer).map { table[$0].candidates.contains(endpoint) } ?? false
    }

    /// Peers in the table, found or not: 0–1,280.
    var peerCount: Int { table.count }

    /// All that were found and not lost, by PeerID.
    var sightings: [Sighting] {
        table.records.filter(\.isAnnounced).map(\.sighting).sorted { $0.peer < $1.peer }
    }

    func frame(_ body: DiscoveryFrame.Body) -> DiscoveryFrame { identity.frame(body) }

    var ownBeacon: Beacon { own.beacon }

    mutating func remove(at position: Int) -> [Output] { table.remove(at: position).goodbye }
}

extension DiscoveryMachine {
    private mutating func start(_ now: Instant) {
        guard !isRunning else { return }
        isRunning = true
        links.restart(now: now)
        statics.restart(now: now)
    }

    private mutating func stop() -> [Output] {
        guard isRunning else { return [] }
        isRunning = false
        var goodbye = ownBeacon
        goodbye.flags.insert(.leaving)
        return links.broadcasting.map { .multicast(frame(.beacon(goodbye)), on: $0) }
    }

    private mutating func linkUp(_ link: LinkID, hasBroadcast: Bool, _ now: Instant) -> [Output] {
        let hasPlace = links.add(link, hasBroadcast: hasBroadcast, now: now)
        statics.reset(on: link, now: now)
        return hasPlace ? [] : [.drop(.discoveryTableFull)]
    }

    private mutating func linkDown(_ link: LinkID, _ now: Instant) -> [Output] {
        links.remove(link)
        var outputs: [Output] = []
        // From the back: a removal moves the last record, which was looked at already, into the
        // gap.
        for position in table.records.indices.reversed() {
            guard table[position].candidates.removeAll(on: link) else { continue }
            if table[position].answer?.endpoint.link == link { table[position].answer = nil }
            if table[position].candidates.isEmpty, !table[position].isInUse {
                outputs += remove(at: position)
            } else {
                outputs += emitChange(at: position, now)
            }
        }
        return outputs
    }

    private mutating func ownChanged(to state: OwnState, _ now: Instant) {
        let isChange =
            state.role != own.role || state.flags != own.flags || state.dataPort != own.dataPort
            || state.info != own.info
        own = state
        if isChange { links.resetAll(now: now) }
    }

    private mutating func contentChanged(to content: Bool, _ now: Instant) {
        if isContent, !content { links.resetAll(now: now) }
        isContent = content
    }

    private mutating func setInUse(_ peer: PeerID, _ isInUse: Bool, _ now: Instant) -> [Output] {
        guard peer != identity.peer else { return [] }
        if let position = table.index(of: peer) {
            if table[position].isInUse, !isInUse {
                table[position].released(now, remembering: identity.lostPeerTime)
            }
            table[position].isInUse = isInUse
            // A channel or an invitation replaces an answer, except where people see who is near.
            if isInUse, !identity.showsPeers { table[position].answer = nil }
            let isGone = table[position].candidates.isEmpty || table[position].hasLeft(now)
            return !isInUse && isGone ? remove(at: position) : []
        }
        guard isInUse else { return [] }
        let unheard = Beacon(
            dataPort: 0, role: .agent, flags: [], costToCollector: nil, infoDigest: 0)
        var record = PeerRecord(
            peer: peer, run: RunID(value: 0), beacon: unheard, lastHeard: now)
        record.isInUse = true
        return admit(record, now).outputs
    }

    /// No position, counted, if there is no room.
    mutating func admit(
        _ record: PeerRecord, _ now: Instant
    ) -> (position: Int?, outputs: [Output]) {
        switch table.admit(record, now: now) {
        case .admitted(let position): (position, [])
        case .evicted(let evicted, let position): (position, evicted.goodbye)
        case .refused: (nil, [.drop(.discoveryTableFull)])
        }
    }
}

extension PeerRecord {
    /// What is no longer true of a peer that is removed.
    fileprivate var goodbye: [DiscoveryMachine.Output] {
        switch announcement {
        case .unheard: []
        case .waiting: [.forgotten(peer)]
        case .announced: [.forgotten(peer), .lost(peer)]
        }
    }
}
