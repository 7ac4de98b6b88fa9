import NearbyCore

/// The channels of a node under the three names by which datagrams and deadlines find them.
///
/// A channel is in `channels` and `tokensByAttempt` from `add` to `remove`, under the key that it
/// has now; in `tokensByIndex` as long as it has a seal; in `inbound` while it is one that another
/// began and that has not proved the network's secret.
struct PeerChannelTable {
    private var channels: [ChannelToken: PeerChannel] = [:]
    private var tokensByIndex: [UInt32: ChannelToken] = [:]
    private var tokensByAttempt: [PeerChannel.AttemptKey: ChannelToken] = [:]
    private(set) var inbound: InboundHandshakes
    private var nextToken: UInt32 = 1
    private let timers: NodeTimers

    init(inboundLimit: Int, timers: NodeTimers) {
        inbound = InboundHandshakes(limit: inboundLimit)
        self.timers = timers
    }

    var count: Int { channels.count }

    var isFull: Bool { channels.count >= Limits.channelsMax }

    subscript(token: ChannelToken) -> PeerChannel? { channels[token] }

    /// That to which frames with this index are addressed.
    subscript(index index: UInt32) -> PeerChannel? {
        tokensByIndex[index].flatMap { channels[$0] }
    }

    subscript(attempt key: PeerChannel.AttemptKey) -> PeerChannel? {
        tokensByAttempt[key].flatMap { channels[$0] }
    }

    /// In no particular order.
    func filter(_ isIncluded: (PeerChannel) -> Bool) -> [PeerChannel] {
        channels.values.filter(isIncluded)
    }

    /// The first of those whose peers' certificates are outside their dates.
    func expired(at unixTime: Int64) -> PeerChannel? {
        var found: PeerChannel?
        for channel in channels.values {
            guard let certification = channel.certification, !certification.isValid(at: unixTime),
                found.map({ channel.token < $0.token }) ?? true
            else { continue }
            found = channel
        }
        return found
    }

    func count(where isIncluded: (PeerChannel) -> Bool) -> Int {
        channels.values.count(where: isIncluded)
    }

    /// The table must not be full.
    mutating func add(
        _ handshake: any SecureChannel, _ key: PeerChannel.AttemptKey, attemptNumber: UInt16,
        expectedPeer: PeerID?, now: Instant
    ) -> PeerChannel {
        let token = ChannelToken(value: nextToken)
        nextToken &+= 1
        let channel = PeerChannel(
            token: token, key: key, attemptNumber: attemptNumber, expectedPeer: expectedPeer,
            handshake: handshake, timers: timers, now: now)
        channels[token] = channel
        tokensByAttempt[key] = token
        return channel
    }

    /// A handshake that another began at this origin.
    mutating func addInbound(
        _ handshake: any SecureChannel, _ key: PeerChannel.AttemptKey, attemptNumber: UInt16,
        from origin: InboundHandshakes.Origin, now: Instant
    ) -> PeerChannel {
        let channel = add(
            handshake, key, attemptNumber: attemptNumber, expectedPeer: nil, now: now)
        inbound.begin(channel.token, from: origin, now: now)
        return channel
    }

    /// The other side has proved the network's secret.
    mutating func proved(_ channel: PeerChannel) {
        if !channel.isClient { inbound.end(channel.token) }
    }

    /// Its datagrams come and go over another path from now on.
    mutating func move(_ channel: PeerChannel, to path: Path) {
        tokensByAttempt[channel.key] = nil
        channel.move(to: path)
        tokensByAttempt[channel.key] = channel.token
    }

    /// It has its keys.
    ///
    /// - Returns: false if another channel has the index.
    mutating func set(_ seal: FrameSeal, of channel: PeerChannel, now: Instant) -> Bool {
        guard tokensByIndex[seal.localIndex] == nil else { return false }
        tokensByIndex[seal.localIndex] = channel.token
        channel.seal = seal
        if !channel.isClient { inbound.renew(channel.token, now: now) }
        return true
    }

    @inline(never)
    mutating func remove(_ channel: PeerChannel) {
        channel.end()
        channels[channel.token] = nil
        tokensByAttempt[channel.key] = nil
        if !channel.isClient { inbound.end(channel.token) }
        if let seal = channel.seal { tokensByIndex[seal.localIndex] = nil }
    }
}
