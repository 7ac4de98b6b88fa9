import NearbyCore
import NearbyEngine
import NearbyLinux
import NearbyWire

extension Limits {
    /// Tickets whose addresses are tried at a time.
    static let ticketsInUseMax = 16
}

/// Where a node dials beside what it discovers: the addresses of its configuration, those of
/// tickets, and those at which peers were admitted before.
struct DialAddresses {
    private struct TicketPeer {
        var peer: PeerID
        var addresses: [TransportAddress]
        var until: Instant
    }

    private let configured: [AddressText]
    /// At most one of each peer, the oldest first.
    private var tickets: [TicketPeer] = []
    /// Where peers were admitted, in this run and before.
    var remembered: [AddressText] = []

    init(configured: [AddressText]) { self.configured = configured }

    /// What a ticket says. Beyond the limit the oldest are forgotten.
    mutating func add(_ peer: PeerID, at addresses: [TransportAddress], until: Instant) {
        tickets.removeAll { $0.peer == peer }
        if tickets.count >= Limits.ticketsInUseMax { tickets.removeFirst() }
        tickets.append(TicketPeer(peer: peer, addresses: addresses, until: until))
    }

    /// Drops the tickets that are no longer to be tried.
    mutating func expire(_ now: Instant) { tickets.removeAll { $0.until <= now } }

    /// Those of the configuration, then those of tickets.
    ///
    /// - Parameters:
    ///   - links: those in use.
    ///   - link: by which an address is reached now; nil while none leads there.
    func staticEndpoints(
        on links: [LinkID], link: (AddressText) -> LinkID?
    ) -> [Endpoint] {
        var endpoints = configured.compactMap { Self.endpoint($0, link) }
        for address in tickets.flatMap(\.addresses) {
            if address.isLinkScoped {
                // Whoever wrote the ticket may be on any of our links.
                endpoints += links.map { Endpoint(link: $0, address: address) }
            } else if let endpoint = Self.endpoint(AddressText(address: address), link) {
                endpoints.append(endpoint)
            }
        }
        return endpoints
    }

    /// At the port where a peer was last, and at the one where all listen for beacons: it may have
    /// restarted at another.
    func rememberedEndpoints(link: (AddressText) -> LinkID?) -> [Endpoint] {
        let last = remembered.compactMap { Self.endpoint($0, link) }
        return last
            + last.map {
                Endpoint(link: $0.link, address: $0.address.with(port: BeaconGroups.port))
            }
    }

    private static func endpoint(
        _ text: AddressText, _ link: (AddressText) -> LinkID?
    ) -> Endpoint? {
        link(text).map { Endpoint(link: $0, address: text.address) }
    }
}
