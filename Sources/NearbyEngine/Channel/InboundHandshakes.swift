import NearbyCore

/// The handshakes that others have begun here and that have not yet proved the network's secret:
/// who may begin another, and which one makes room for it.
///
/// A cookie proves no more than an address, and each handshake costs about 100 kB. So one address
/// has a share, a full table evicts the oldest instead of refusing everybody, and a subnet has a
/// share only once the table is full: the boards of one LAN that start together are no attack. Who
/// was announced by beacons with the network's proof goes before those of whom nothing was heard.
/// Whoever has just begun is given the time that an honest handshake takes.
struct InboundHandshakes: Sendable {
    /// Whom a handshake counts against.
    struct Origin: Hashable, Sendable {
        fileprivate enum Group: Hashable, Sendable {
            /// An address without its port, or the first address of a subnet.
            case endpoint(Endpoint)
            case node(ShortID)
            /// Everything that this neighbour forwards to us.
            case firstHop(PeerID)
        }

        fileprivate let source: Group
        fileprivate let group: Group
        fileprivate let isExpected: Bool

        /// - Parameters:
        ///   - firstHop: the neighbour that handed us the packet, if it came over the mesh.
        ///   - isExpected: beacons with the network's proof named this address.
        init(_ path: Path, firstHop: PeerID?, isExpected: Bool = false) {
            self.isExpected = isExpected
            switch path {
            case .link(let endpoint):
                source = .endpoint(
                    Endpoint(link: endpoint.link, address: endpoint.address.withPort(0)))
                group = .endpoint(Endpoint(link: endpoint.link, address: endpoint.address.subnet))
            case .mesh(let node):
                source = .node(node)
                group = firstHop.map { .firstHop($0) } ?? .node(node)
            }
        }

        fileprivate var isForwarded: Bool { if case .node = source { true } else { false } }
    }

    enum Admission: Equatable {
        case free
        /// This one makes room.
        case inPlaceOf(ChannelToken)
        case refused(DropReason)
    }

    private struct Entry: Sendable {
        let token: ChannelToken
        let origin: Origin
        let begun: Instant
    }

    let limit: Int
    /// Oldest first, at most `limit`.
    private var entries: [Entry] = []

    init(limit: Int) { self.limit = limit }

    var count: Int { entries.count }

    /// Whether a handshake from there may begin now; changes nothing.
    func admission(of origin: Origin, now: Instant) -> Admission {
        let own = entries.filter { $0.origin.source == origin.source }
        if own.count >= Limits.handshakesPerSource { return place(of: own, for: origin, now) }
        if origin.isForwarded {
            let forwarded = entries.filter { $0.origin.group == origin.group }
            if forwarded.count >= limit / 2 { return place(of: forwarded, for: origin, now) }
        }
        guard entries.count >= limit else { return .free }
        let heavy = heavyGroups(for: origin)
        let victim =
            entries.first {
                heavy.contains($0.origin.source) || heavy.contains($0.origin.group)
                    || origin.isExpected && !$0.origin.isExpected
            }.flatMap { now - $0.begun >= Limits.handshakeGraceOfMany ? $0 : nil }
            ?? entries.first.flatMap { now - $0.begun >= Limits.handshakeGrace ? $0 : nil }
        return victim.map { .inPlaceOf($0.token) } ?? .refused(.handshakeTableFull)
    }

    mutating func begin(_ token: ChannelToken, from origin: Origin, now: Instant) {
        entries.append(Entry(token: token, origin: origin, begun: now))
    }

    /// It has its keys: whoever has come so far is given as long again.
    mutating func renew(_ token: ChannelToken, now: Instant) {
        guard let index = entries.firstIndex(where: { $0.token == token }) else { return }
        let origin = entries.remove(at: index).origin
        begin(token, from: origin, now: now)
    }

    /// It is over, or it has proved the secret.
    mutating func end(_ token: ChannelToken) { entries.removeAll { $0.token == token } }

    /// Behind one address there may be others than the one that floods: those that were announced
    /// have to wait less.
    private func place(of share: [Entry], for newcomer: Origin, _ now: Instant) -> Admission {
        let unheard = newcomer.isExpected ? share.first { !$0.origin.isExpected } : nil
        if let unheard, now - unheard.begun >= Limits.handshakeGraceOfMany {
            return .inPlaceOf(unheard.token)
        }
        guard let oldest = share.first, now - oldest.begun >= Limits.handshakeGrace else {
            return .refused(.handshakeShareFull)
        }
        return .inPlaceOf(oldest.token)
    }

    /// Sources that have at least two more than the newcomer's, and subnets that have more than
    /// half of the table, unless the newcomer is of them.
    private func heavyGroups(for newcomer: Origin) -> Set<Origin.Group> {
        var counts: [Origin.Group: Int] = [:]
        for entry in entries {
            counts[entry.origin.source, default: 0] += 1
            if entry.origin.group != entry.origin.source {
                counts[entry.origin.group, default: 0] += 1
            }
        }
        let fair = (counts[newcomer.source] ?? 0) + 2
        var heavy: Set<Origin.Group> = []
        for entry in entries {
            if counts[entry.origin.source] ?? 0 >= fair { heavy.insert(entry.origin.source) }
            if entry.origin.group != newcomer.group,
                (counts[entry.origin.group] ?? 0) * 2 > limit
            {
                heavy.insert(entry.origin.group)
            }
        }
        return heavy
    }
}

extension TransportAddress {
    /// The addresses that are easily had together, as the first of them: an IPv4 /24, an IPv6 /64.
    /// All link-local addresses share one prefix, so there it is the address itself; everywhere
    /// else too.
    var subnet: TransportAddress {
        switch self {
        case .ipv4(let address, _): .ipv4(address: address & 0xffff_ff00, port: 0)
        // fe80::/10, RFC 4291 §2.5.6.
        case .ipv6(let high, let low, _) where high >> 54 == 0xfe80 >> 6:
            .ipv6(high: high, low: low, port: 0)
        case .ipv6(let high, _, _): .ipv6(high: high, low: 0, port: 0)
        case .bluetooth, .simulated: self
        }
    }
}

extension Limits {
    /// Handshakes of others in progress at once at an agent or a relay, where memory is short; of
    /// them at most half over one neighbour.
    static let agentHandshakesMax = 16
    /// And at a collector or a viewer, which a whole LAN may call at once.
    static let collectorHandshakesMax = 96
    /// Of one address, or of one node over the mesh.
    static let handshakesPerSource = 4
    /// The oldest handshake makes room for another so long after its beginning, or after its keys.
    static let handshakeGrace = Duration.seconds(1)
    /// And one of an address that has more than others, of a subnet that has half of the table, or
    /// of somebody unheard of for one that was heard, after so long.
    static let handshakeGraceOfMany = Duration.milliseconds(250)
    /// Who says nothing more for so long has gone, whether a client after its cookie or a server
    /// after its first answer: both repeat each of their flights at least once a second.
    static let handshakeIdleTimeout = Duration.seconds(3)
    /// From a client's cookie to keys.
    static let inboundHandshakeTimeout = Duration.seconds(12)
}
