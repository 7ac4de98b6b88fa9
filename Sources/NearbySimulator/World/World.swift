import NearbyCore
import NearbyEngine

/// The LANs of a run and who is on them.
public struct World: Sendable {
    /// Host numbers on each LAN.
    public var lans: [[Int]]
    public var roles: [Role]
    /// What each LAN is made of.
    public var kinds: [LinkClass]
    /// Who hears whom on the last LAN, if that is the air; else everybody on a LAN hears everybody.
    public var field: RadioField?

    public init(lans: [[Int]], roles: [Role]) {
        self.lans = lans
        self.roles = roles
        kinds = lans.map { _ in .ethernet }
    }

    public var hostCount: Int { roles.count }

    /// One LAN, host 0 the collector.
    public static func flat(_ count: Int) -> World {
        lan((0..<count).map { $0 == 0 ? .collector : .agent })
    }

    public static func lan(_ roles: [Role]) -> World {
        World(lans: [Array(roles.indices)], roles: roles)
    }

    /// Hosts in a row; each two neighbours share a LAN; host 0 is the collector.
    public static func chain(_ count: Int) -> World {
        World(
            lans: (1..<count).map { [$0 - 1, $0] },
            roles: (0..<count).map { $0 == 0 ? .collector : $0 == count - 1 ? .agent : .relay })
    }

    /// Collector and agent with two relays between them.
    public static let diamond = World(
        lans: [[0, 1], [0, 2], [1, 3], [2, 3]], roles: [.collector, .relay, .relay, .agent])

    /// Now and then one to three hosts only look in.
    package mutating func addViewers(_ generator: inout SeededGenerator) {
        guard Int.random(in: 0..<3, using: &generator) == 0 else { return }
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            roles[Int.random(in: 1..<hostCount, using: &generator)] = .viewer
        }
    }

    /// One host more, on one or two LANs; the world holds together without it.
    ///
    /// - Returns: its number.
    package mutating func addMember(_ generator: inout SeededGenerator) -> Int {
        let member = hostCount
        roles.append(.agent)
        for _ in 0..<2 {
            let lan = Int.random(in: lans.indices, using: &generator)
            if !lans[lan].contains(member) { lans[lan].append(member) }
        }
        return member
    }

    /// The LANs that each host is on.
    var lansOfHosts: [[Int]] {
        var lansOfHosts = [[Int]](repeating: [], count: hostCount)
        for (lan, members) in lans.enumerated() {
            for member in members { lansOfHosts[member].append(lan) }
        }
        return lansOfHosts
    }

    /// A connected random arrangement of up to `hostsMax` hosts on several LANs.
    public static func random(_ generator: inout SeededGenerator, hostsMax: Int = 30) -> World {
        let count = Int.random(in: 3...hostsMax, using: &generator)
        let lansMax = max(1, count / 4)
        let lanCount = Int.random(in: 1...lansMax, using: &generator)
        var lans = [[Int]](repeating: [], count: lanCount)
        for host in 0..<count { lans[Int.random(in: 0..<lanCount, using: &generator)].append(host) }
        // A bridge host joins each LAN to an earlier one.
        for lan in 1..<max(1, lanCount) {
            let bridge = Int.random(in: 0..<count, using: &generator)
            let other = Int.random(in: 0..<lan, using: &generator)
            for joined in [lan, other] where !lans[joined].contains(bridge) {
                lans[joined].append(bridge)
            }
        }
        let roles = (0..<count).map { host -> Role in
            host == 0 ? .collector : host % 3 == 0 ? .relay : .agent
        }
        return World(lans: lans.map { $0.sorted() }, roles: roles)
    }
}
