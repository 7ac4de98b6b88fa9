import NearbyCore
import NearbyWire

extension Limits {
    /// Peers that discovery remembers: 1,024 neighbours of a collector and room for newcomers.
    public static let discoveryPeersMax = 1_280
    /// Newcomers a second that may displace an older entry once the table is full; the rest is
    /// dropped.
    static let discoveryEvictionsPerSecond = 50
}

/// What discovery keeps about one peer.
struct PeerRecord: Sendable {
    enum Announcement: Equatable, Sendable {
        /// Known only because it is in use; never heard.
        case unheard
        /// `found` follows with the info, or at this moment without.
        case waiting(until: Instant)
        case announced
    }

    enum InfoFetch: Equatable, Sendable {
        case settled
        case requesting(next: Instant, tries: Int)
        case abandoned
    }

    struct PendingAnswer: Equatable, Sendable {
        var due: Instant
        let endpoint: Endpoint
        /// Our own next beacon on the link serves as well.
        let beaconServes: Bool
    }

    let peer: PeerID
    var run: RunID
    var beacon: Beacon
    var info = DiscoveryInfo.empty
    var candidates = CandidateList()
    var announcement = Announcement.unheard
    var infoFetch = InfoFetch.settled
    /// When info was last found to be missing.
    var infoMissing = Instant.zero
    var answer: PendingAnswer?
    /// `changed` waits for this moment.
    var changeDue: Instant?
    var lastChange: Instant?
    var lastHeard: Instant
    /// When it came into the table.
    var since = Instant.zero
    /// When this run was heard first, or the record was made without having been heard.
    var runSince = Instant.zero
    /// Beacons of this run, up to 255.
    var heardCount: UInt8 = 0
    /// Answers to this run since it was last in use, up to 255: the first few of its beacons get
    /// one.
    var answeredSinceUse: UInt8 = 0
    var isInUse = false
    /// While it was in use, its run said goodbye.
    var goodbyeHeard: Instant?
    /// It replied to a request of ours: no invention.
    var hasReplied = false
    /// How long it stays without being heard: the table says it.
    fileprivate(set) var lifetime = Duration.zero

    var isAnnounced: Bool { announcement == .announced }

    var expiry: Instant { isInUse ? .distantFuture : lastHeard + lifetime }

    /// A beacon of this run came.
    mutating func heard(_ beacon: Beacon, run: RunID, now: Instant) {
        if run != self.run { (heardCount, answeredSinceUse, runSince) = (0, 0, now) }
        self.run = run
        self.beacon = beacon
        lastHeard = now
        goodbyeHeard = nil
        heardCount = min(heardCount, 254) + 1
    }

    /// It was told of us: by an answer, or by a beacon of ours that all can hear.
    mutating func answered() {
        answer = nil
        answeredSinceUse = min(answeredSinceUse, 254) + 1
    }

    /// Whether what it says from there is new: a run that got few answers, or, while it is in use,
    /// an address that it did not have.
    ///
    /// - Parameter showsPeers: people learn only from beacons who is near, so a channel does not
    ///   replace an answer: whoever restarts near us would have to wait for our next beacon.
    func isAnswerDue(at endpoint: Endpoint, beaconServes: Bool, showsPeers: Bool) -> Bool {
        guard answer == nil else { return false }
        guard isInUse, !showsPeers else { return answeredSinceUse < Limits.answeredBeaconsMax }
        return !beaconServes && candidates.heardCount(at: endpoint) <= Limits.answeredBeaconsMax
    }

    /// Whether a beacon on the link is the answer that it waits for.
    func isAnswered(on link: LinkID) -> Bool {
        answer.map { $0.beaconServes && $0.endpoint.link == link } ?? false
    }

    /// Whether it said goodbye just now, before what it was in use for was over.
    func hasLeft(_ now: Instant) -> Bool {
        goodbyeHeard.map { now - $0 < Self.goodbyeTime } ?? false
    }

    /// It is in use no more: it is heard again within `time`, or forgotten.
    mutating func released(_ now: Instant, remembering time: Duration?) {
        lastHeard = now - (lifetime - (time ?? lifetime))
        answeredSinceUse = 0
    }

    /// When something is to be done about this peer.
    var deadline: Instant {
        var earliest = min(expiry, changeDue ?? .distantFuture, answer?.due ?? .distantFuture)
        if case .waiting(let until) = announcement { earliest = min(earliest, until) }
        if case .requesting(let next, _) = infoFetch { earliest = min(earliest, next) }
        return earliest
    }

    var sighting: Sighting {
        Sighting(
            peer: peer, run: run, endpoints: candidates.ordered(run: run), role: beacon.role,
            costToCollector: beacon.costToCollector, flags: beacon.flags, info: info,
            since: since, extensions: beacon.extensions)
    }

    /// A goodbye beacon and the end of the channels come together, in one order or the other.
    static let goodbyeTime: Duration = .seconds(3)
}

/// The bounded table of peers: an array, and an index into it that is never enumerated, so that the
/// order of the outputs depends on the inputs alone.
struct PeerTable: Sendable {
    private let lifetime: Duration
    private(set) var records: [PeerRecord] = []
    /// `deadline` of each record, apart from them so that a look at all of them touches little
    /// memory.
    private(set) var deadlines: [Instant] = []
    /// No peer has anything to do before this moment; it may be early, never late.
    private(set) var wake = Instant.distantFuture
    private var index: [PeerID: Int] = [:]
    private var evictionWindow = Instant.zero
    private var evictions = 0

    enum Admission {
        case admitted(index: Int)
        case evicted(PeerRecord, index: Int)
        case refused
    }

    /// - Parameter beaconInterval: the longest between two beacons of a peer. It stays for four of
    ///   them, one lengthened by jitter: two that are left out or lost do not lose it.
    init(beaconInterval: Duration) { lifetime = beaconInterval * 13 / 3 }

    var count: Int { records.count }

    func index(of peer: PeerID) -> Int? { index[peer] }

    subscript(position: Int) -> PeerRecord {
        get { records[position] }
        // In place: `set` would copy the candidates each time.
        _modify {
            defer { updateDeadline(at: position) }
            yield &records[position]
        }
    }

    /// Call after a look at all deadlines: `wake` is exact again.
    mutating func renewWake() { wake = deadlines.min() ?? .distantFuture }

    /// Takes a peer that is not in the table. A full table displaces the least useful peer that is
    /// not in use: never replied before replied, heard once before often, then the one heard
    /// longest ago. At most 50 a second, since each costs a look at the whole table; one that is
    /// itself in use always may.
    mutating func admit(_ record: PeerRecord, now: Instant) -> Admission {
        if records.count < Limits.discoveryPeersMax { return .admitted(index: append(record)) }
        if now - evictionWindow >= .seconds(1) {
            evictionWindow = now
            evictions = 0
        }
        guard record.isInUse || evictions < Limits.discoveryEvictionsPerSecond else {
            return .refused
        }
        evictions += 1
        guard let victim = leastUseful(now: now) else { return .refused }
        let evicted = remove(at: victim)
        return .evicted(evicted, index: append(record))
    }

    /// The last record takes the place of the removed one.
    @discardableResult
    mutating func remove(at position: Int) -> PeerRecord {
        let removed = records[position]
        index[removed.peer] = nil
        let last = records.removeLast()
        let lastDeadline = deadlines.removeLast()
        if position < records.count {
            records[position] = last
            deadlines[position] = lastDeadline
            index[last.peer] = position
        }
        return removed
    }

    func runSince(of peer: PeerID) -> Instant? { index(of: peer).map { records[$0].runSince } }

    /// Answers that one beacon on the link gives as well.
    func answerCount(servedBy link: LinkID) -> Int { records.count { $0.isAnswered(on: link) } }

    /// Such a beacon has left.
    mutating func dropAnswers(servedBy link: LinkID) {
        for position in records.indices where records[position].isAnswered(on: link) {
            self[position].answered()
        }
    }

    private mutating func append(_ record: PeerRecord) -> Int {
        records.append(record)
        let position = records.count - 1
        records[position].since = record.lastHeard
        records[position].runSince = record.lastHeard
        records[position].lifetime = lifetime
        deadlines.append(Self.deadline(of: &records[position]))
        index[record.peer] = position
        wake = min(wake, deadlines[position])
        return position
    }

    private mutating func updateDeadline(at position: Int) {
        let deadline = Self.deadline(of: &records[position])
        deadlines[position] = deadline
        wake = min(wake, deadline)
    }

    /// Takes the record in place: by value it would be copied.
    private static func deadline(of record: inout PeerRecord) -> Instant { record.deadline }

    private func leastUseful(now: Instant) -> Int? {
        var victim: Int?
        for position in records.indices where !records[position].isInUse {
            if let current = victim, !Self.isLessUseful(records[position], than: records[current]) {
                continue
            }
            victim = position
        }
        return victim
    }

    private static func isLessUseful(_ left: PeerRecord, than right: PeerRecord) -> Bool {
        if left.hasReplied != right.hasReplied { return right.hasReplied }
        let leftHeard = min(left.heardCount, 3)
        let rightHeard = min(right.heardCount, 3)
        return leftHeard != rightHeard ? leftHeard < rightHeard : left.lastHeard < right.lastHeard
    }
}
