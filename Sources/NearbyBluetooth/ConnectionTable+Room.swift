import NearbyCore

/// How many connections the controller can hold, as far as it has shown.
struct ControllerRoom: Sendable {
    private(set) var most = Limits.bluetoothConnectionsMax
    private var learnedAt = Instant.zero
    private var endedAt: Instant?

    /// With fewer, nothing could be forwarded.
    private static let least = 2
    /// The kernel keeps a link for up to four seconds after its last channel is closed.
    static let lingerTime = Duration.seconds(5)
    /// What took the other places, a headset perhaps, may have gone.
    private static let trustTime = Duration.seconds(600)

    /// It has held this many.
    mutating func held(_ count: Int) {
        most = max(most, min(count, Limits.bluetoothConnectionsMax))
    }

    /// A channel was closed.
    mutating func ended(_ now: Instant) { endedAt = now }

    /// It refused one more beside so many. Not believed while links of closed channels may linger.
    mutating func refused(beside count: Int, _ now: Instant) {
        if let endedAt, now - endedAt < Self.lingerTime { return }
        most = min(most, max(count, Self.least))
        learnedAt = now
    }

    /// What was learned may no longer hold: every ten minutes one more is tried.
    mutating func tryMore(_ now: Instant) {
        guard most < Limits.bluetoothConnectionsMax, now - learnedAt >= Self.trustTime else {
            return
        }
        most += 1
        learnedAt = now
    }
}

/// Who has a place in the controller, and who makes way for whom.
extension ConnectionTable {
    /// How long a peer is refused before neighbours make way for it.
    private static let patience = Duration.seconds(15)

    /// Peers with a channel or an attempt, but for this one.
    func connections(beside address: BluetoothAddress) -> Int {
        peers.reduce(0) { $0 + ($1.channels.isEmpty || $1.address == address ? 0 : 1) }
    }

    /// Peers with a channel that can be used, but for this one.
    func openCount(beside address: BluetoothAddress) -> Int {
        peers.reduce(0) { $0 + ($1.isConnected && $1.address != address ? 1 : 0) }
    }

    /// Whether somebody may have to make way in what follows from this input.
    func wantsNeighbours(for input: Input) -> Bool {
        switch input {
        case .accepted, .deadlineReached: break
        case .send(_, let address):
            if let index = index(of: address), peers[index].isConnected { return false }
        default: return false
        }
        return peers.count { !$0.channels.isEmpty } >= room.most - 1
    }

    mutating func take(_ neighbours: [BluetoothAddress]) {
        for index in peers.indices {
            peers[index].isNeighbour = neighbours.contains(peers[index].address)
        }
    }

    /// Room for one more in a controller that is to hold so many: at the limit, in the place of a
    /// stranger, or else of the peer that has been quiet for longest. Nil: everybody is in use.
    mutating func makePlace(
        for address: BluetoothAddress, upTo most: Int, _ now: Instant
    ) -> [Output]? {
        guard connections(beside: address) >= most else { return [] }
        let quiet = peers.filter { $0.address != address && $0.isQuiet(now) }
            .min { $0.order(now) < $1.order(now) }
        return quiet.flatMap { index(of: $0.address) }.map { close($0) }
    }

    /// All places are in use, and this peer has been refused for a while: a neighbour or two make
    /// way for it, the newest that we connected to, or else the newest of all; never one of the
    /// configuration. At most once a minute, then ever more rarely, down to once an hour: near a
    /// full node there may always be a peer that others reach. We connect once the links are gone.
    mutating func yieldPlace(to index: Int, _ now: Instant) -> [Output] {
        let since = peers[index].refusedSince ?? now
        peers[index].refusedSince = since
        guard now - since >= Self.patience, yields.isDue(now) else { return [] }
        let address = peers[index].address
        var closed: [Output] = []
        // No more than two, though attempts may count for others.
        for _ in 0..<2 where connections(beside: address) >= room.most - 1 {
            if let last = newest(beside: address) { closed += close(last) }
        }
        yields.fail(now, using: &random)
        peers[index].attemptAt = now + ControllerRoom.lingerTime
        return closed
    }

    /// The other side has closed a channel in use, presumably to make way for another: we stay away
    /// for 8 to 12 s, so that the other comes first.
    mutating func leave(_ index: Int, _ now: Instant) {
        let pause = random.duration(in: .seconds(8) ..< .seconds(12))
        peers[index].backoff.postpone(until: now + pause)
    }

    private func newest(beside address: BluetoothAddress) -> Int? {
        var newest: (index: Int, channel: L2CAPChannel)?
        for (index, peer) in peers.enumerated() where peer.address != address && peer.isConnected {
            guard !configured.contains(peer.address), let channel = peer.channels.last else {
                continue
            }
            if let newest, newest.channel.isOurs && !channel.isOurs { continue }
            let isOursAtLast = newest?.channel.isOurs == false && channel.isOurs
            if let newest, !isOursAtLast, channel.id < newest.channel.id { continue }
            newest = (index, channel)
        }
        return newest?.index
    }

    private mutating func close(_ index: Int) -> [Output] {
        defer { peers[index].channels = [] }
        return peers[index].channels.map { .close($0.id) }
    }
}
