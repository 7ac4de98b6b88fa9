import NearbyCore
import NearbyWire

extension Limits {
    /// Services in the table: a peer has one for each link and address family.
    static let servicesMax = 256
    /// Services that are being resolved at once: each is a call that the daemon answers.
    static let servicesResolvingMax = 8
    /// Addresses handed to the node at once, of all peers.
    static let serviceEndpointsMax = 48
}

/// One appearance of a service: on one link, over one protocol.
public struct ServiceKey: Hashable, Comparable, Sendable {
    public enum Family: UInt8, Sendable { case ipv4, ipv6 }

    public var link: LinkID
    public var family: Family
    /// As the daemon gave it, UTF-8 without zero, to be given back as it is.
    public var name: [UInt8]
    var domain: [UInt8]

    public init(link: LinkID, family: Family, name: [UInt8], domain: [UInt8]) {
        self.link = link
        self.family = family
        self.name = name
        self.domain = domain
    }

    public static func < (left: ServiceKey, right: ServiceKey) -> Bool {
        if left.link != right.link { return left.link < right.link }
        if left.family != right.family { return left.family.rawValue < right.family.rawValue }
        if left.name != right.name { return left.name.lexicographicallyPrecedes(right.name) }
        return left.domain.lexicographicallyPrecedes(right.domain)
    }

    var nameText: String { String(decoding: name, as: UTF8.self) }
}

/// What resolving a service gave.
public struct ServiceAnswer: Equatable, Sendable {
    /// Its port counts for nothing.
    public var address: TransportAddress
    /// Of the SRV record.
    public var port: UInt16
    /// The TXT record in the form of RFC 6763 §6.1.
    public var text: [UInt8]

    public init(address: TransportAddress, port: UInt16, text: [UInt8]) {
        self.address = address
        self.port = port
        self.text = text
    }
}

/// The services that were found and what is known of them: which are asked for, which are refused.
///
/// At most `Limits.servicesMax`. At the limit one that is refused or does not answer makes room;
/// otherwise the new one is dropped and counted, and `isIncomplete`.
struct FoundServices: Sendable {
    /// What became of something from outside.
    enum Verdict: Equatable { case accepted, refused(DropReason) }

    private enum State: Sendable {
        /// Its link is not in use, or enough others are asked for at present.
        case waiting
        case resolving
        case known(ServiceRecord, Endpoint)
        /// Says what no node says. The daemon still tells us if that changes.
        case refused
        case silent(until: Instant)
    }

    private struct Service: Sendable {
        let key: ServiceKey
        var state = State.waiting

        /// The daemon has a resolver for it.
        var isWatched: Bool {
            switch state {
            case .resolving, .known, .refused: true
            case .waiting, .silent: false
            }
        }

        /// Not worth its place when there is no other.
        var isEvictable: Bool {
            switch state {
            case .waiting, .resolving, .known: false
            case .refused, .silent: true
            }
        }

        func isDue(_ now: Instant) -> Bool {
            switch state {
            case .waiting: true
            case .silent(let until): until <= now
            case .resolving, .known, .refused: false
            }
        }
    }

    private let own: PeerID
    /// In the order of their keys.
    private var services: [Service] = []
    private var links: [LinkID] = []
    /// A service was dropped for want of room since the last `removeAll`.
    private(set) var isIncomplete = false

    init(own: PeerID) { self.own = own }

    // MARK: What happens

    mutating func add(_ key: ServiceKey) -> (verdict: Verdict, evicted: ServiceKey?) {
        guard index(of: key) == nil else { return (.accepted, nil) }
        guard key.name.count <= Self.nameBytesMax, key.domain.count <= Self.domainBytesMax else {
            return (.refused(.serviceMalformed), nil)
        }
        var evicted: ServiceKey?
        if services.count >= Limits.servicesMax {
            guard let evictable = services.firstIndex(where: \.isEvictable) else {
                isIncomplete = true
                return (.refused(.serviceTableFull), nil)
            }
            evicted = services.remove(at: evictable).key
        }
        let place = services.firstIndex { key < $0.key } ?? services.endIndex
        services.insert(Service(key: key), at: place)
        return (.accepted, evicted)
    }

    /// False if it was not there.
    mutating func remove(_ key: ServiceKey) -> Bool {
        guard let index = index(of: key) else { return false }
        services.remove(at: index)
        return true
    }

    /// Returns what was there, in order.
    mutating func removeAll() -> [ServiceKey] {
        defer { services = [] }
        isIncomplete = false
        return services.map(\.key)
    }

    /// The answer to a service that is asked for, or a change of what was known.
    mutating func resolve(_ key: ServiceKey, _ answer: ServiceAnswer) -> Verdict {
        guard let index = index(of: key), services[index].isWatched else { return .accepted }
        guard let record = try? ServiceRecord(parsing: answer.text[...]),
            record.port == answer.port, Self.isUsable(answer.address)
        else {
            services[index].state = .refused
            return .refused(.serviceMalformed)
        }
        let address = answer.address.with(port: record.port)
        services[index].state = .known(record, Endpoint(link: key.link, address: address))
        return .accepted
    }

    /// Nobody answered for the service, or the daemon could not be asked.
    mutating func fail(_ key: ServiceKey, now: Instant) {
        guard let index = index(of: key), services[index].isWatched else { return }
        services[index].state = .silent(until: now + Self.silence)
    }

    /// The links that the node uses. Returns the services that are no longer to be asked for.
    mutating func setLinks(_ links: [LinkID]) -> [ServiceKey] {
        self.links = links
        var unused: [ServiceKey] = []
        for index in services.indices
        where services[index].isWatched && !links.contains(services[index].key.link) {
            services[index].state = .waiting
            unused.append(services[index].key)
        }
        return unused
    }

    /// The services to ask for now, as many as may be.
    mutating func takeUnresolved(now: Instant) -> [ServiceKey] {
        var room = room
        var taken: [ServiceKey] = []
        for index in services.indices where room > 0 && services[index].isDue(now) {
            guard links.contains(services[index].key.link) else { continue }
            services[index].state = .resolving
            taken.append(services[index].key)
            room -= 1
        }
        return taken
    }

    // MARK: What is known

    var count: Int { services.count }

    /// When one that was silent may be asked for again; nil while there is none, or no room: then
    /// an answer comes first.
    var nextDeadline: Instant? {
        guard room > 0 else { return nil }
        var earliest: Instant?
        for service in services where links.contains(service.key.link) {
            guard case .silent(let until) = service.state else { continue }
            earliest = min(earliest ?? until, until)
        }
        return earliest
    }

    /// The peers behind the services, without ourselves, by PeerID; what the service with the
    /// lowest key says counts.
    var peers: [FoundPeer] {
        var peers: [FoundPeer] = []
        for service in services {
            guard case .known(let record, let endpoint) = service.state, record.peer != own
            else { continue }
            let place =
                peers.firstIndex { !($0.record.peer < record.peer) } ?? peers.endIndex
            if place == peers.endIndex || peers[place].record.peer != record.peer {
                let name = service.key.nameText
                peers.insert(FoundPeer(record: record, name: name, endpoints: []), at: place)
            }
            let endpoints = peers[place].endpoints
            if endpoints.count < Self.endpointsOfPeerMax, !endpoints.contains(endpoint) {
                peers[place].endpoints.append(endpoint)
            }
        }
        return peers
    }

    /// The addresses to try: the first of each peer, collectors before others, then the second
    /// ones, and so on.
    static func endpoints(of peers: [FoundPeer]) -> [Endpoint] {
        let collectors = peers.filter { $0.record.role == .collector }
        let ordered = collectors + peers.filter { $0.record.role != .collector }
        var result: [Endpoint] = []
        for rank in 0..<endpointsOfPeerMax {
            for peer in ordered where peer.endpoints.indices.contains(rank) {
                guard result.count < Limits.serviceEndpointsMax else { return result }
                if !result.contains(peer.endpoints[rank]) { result.append(peer.endpoints[rank]) }
            }
        }
        return result
    }

    // MARK: Parts

    /// How many more may be asked for.
    private var room: Int {
        var room = Limits.servicesResolvingMax
        for service in services { if case .resolving = service.state { room -= 1 } }
        return room
    }

    private func index(of key: ServiceKey) -> Int? { services.firstIndex { $0.key == key } }

    /// An address that one node can have on a link.
    private static func isUsable(_ address: TransportAddress) -> Bool {
        switch address {
        case .ipv4(let host, _): host >> 24 != 0 && host >> 24 != 127 && !address.isMulticast
        case .ipv6(let high, let low, _): (high > 0 || low > 1) && !address.isMulticast
        case .bluetooth, .simulated: false
        }
    }

    /// How long a service that nobody answers for is left alone.
    static let silence: Duration = .seconds(60)
    private static let endpointsOfPeerMax = 4
    private static let nameBytesMax = 63
    private static let domainBytesMax = 255
}

/// A peer that services name: nothing of it is proved.
public struct FoundPeer: Equatable, Sendable {
    public var record: ServiceRecord
    /// Of the service.
    public var name: String
    /// At most 4.
    public var endpoints: [Endpoint]
}
