import NearbyCore

/// Our links that are up, and in which order the addresses of a peer are tried over them.
struct LinkTable {
    private var classes: [LinkID: LinkClass] = [:]

    mutating func add(_ link: LinkID, _ linkClass: LinkClass) { classes[link] = linkClass }

    mutating func remove(_ link: LinkID) { classes[link] = nil }

    /// A link that we do not know counts as Ethernet.
    func path(to endpoint: Endpoint) -> LinkPath {
        LinkPath(endpoint: endpoint, linkClass: classes[endpoint.link] ?? .ethernet)
    }

    /// Those over links that are up, in the order of the endpoints.
    @inline(never)
    func paths(to endpoints: [Endpoint]) -> [LinkPath] {
        endpoints.filter { classes[$0.link] != nil }.map(path)
    }

    /// Whether frames can leave for it; those without a link leave as the system chooses.
    func reaches(_ endpoint: Endpoint) -> Bool {
        endpoint.link.value == 0 || classes[endpoint.link] != nil
    }

    /// Of the links of these endpoints those on each of which a node wants a neighbour: all that
    /// are up, except Bluetooth, where connections are few.
    func toCover(by endpoints: [Endpoint]) -> [LinkID] {
        var links: [LinkID] = []
        for link in endpoints.lazy.map(\.link) where !links.contains(link) {
            if let linkClass = classes[link], linkClass != .bluetooth { links.append(link) }
        }
        return links
    }

    /// Where to try to reach a peer: the cheapest links first, and in each class in the given
    /// order. Every third try begins with the next.
    func reachable(_ endpoints: [Endpoint], tries: UInt16 = 0) -> [Endpoint] {
        let endpoints = endpoints.filter(reaches)
        let ordered = LinkClass.allCases.flatMap { linkClass in
            endpoints.filter { path(to: $0).linkClass == linkClass }
        }
        guard !ordered.isEmpty else { return [] }
        let first = Int(tries) / 3 % ordered.count
        return Array(ordered[first...] + ordered[..<first])
    }
}
