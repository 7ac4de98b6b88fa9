import NearbyCore
import NearbyEngine

extension World {
    /// The world of a plan that has no fault. The same plan gives the same world.
    public init(_ plan: SitePlan) {
        var random = SeededGenerator(seed: plan.seed ^ 0x7369_7465)
        let count = plan.nodes
        let agents = [Role](repeating: .agent, count: count)
        var collectors = Self.spread(plan.collectors, over: count)
        switch plan.shape {
        case .line: self.init(lans: (1..<count).map { [$0 - 1, $0] }, roles: agents)
        case .ring:
            let lans = (0..<count).map { [$0, ($0 + 1) % count].sorted() }
            self.init(lans: lans, roles: agents)
        case .grid:
            let grid = Grid(count)
            self.init(lans: grid.lans, roles: agents)
            collectors = Self.spread(plan.collectors, over: grid.positions)
        case .random:
            let positions = Self.scattered(count, plan, &random)
            self.init(lans: [Array(0..<count)], roles: agents)
            kinds = [.wifi]
            field = RadioField(
                positions, weak: Self.share(plan.weakPercent, of: count, &random), seed: plan.seed)
            collectors = Self.spread(plan.collectors, over: positions)
        case .lan: self.init(lans: [Array(0..<count)], roles: agents)
        case .sites:
            let sites = Sites(count)
            self.init(lans: sites.lans + sites.bridges, roles: agents)
            kinds = sites.lans.map { _ in .ethernet } + sites.bridges.map { _ in .wifi }
            collectors = Self.spread(plan.collectors, over: sites.lans.count).map {
                sites.lans[$0][0]
            }
        }
        for collector in collectors { roles[collector] = .collector }
    }

    /// Some numbers drawn from `0..<count`.
    static func share(
        _ percent: Int, of count: Int, _ random: inout SeededGenerator
    ) -> Set<Int> {
        Set((0..<count).shuffled(using: &random).prefix(count * percent / 100))
    }

    /// In the middle of as many equal parts.
    private static func spread(_ parts: Int, over count: Int) -> [Int] {
        (0..<parts).map { (2 * $0 + 1) * count / (2 * parts) }
    }

    /// Those nearest to the middles of as many strips.
    private static func spread(_ parts: Int, over positions: [RadioField.Position]) -> [Int] {
        let width = positions.map(\.x).max() ?? 0
        let height = positions.map(\.y).max() ?? 0
        var chosen: [Int] = []
        for part in 0..<parts {
            let middle = RadioField.Position(
                x: width * Double(2 * part + 1) / Double(2 * parts), y: height / 2)
            let nearest = positions.indices.filter { !chosen.contains($0) }
                .min { positions[$0].distance(to: middle) < positions[$1].distance(to: middle) }
            if let nearest { chosen.append(nearest) }
        }
        return chosen
    }

    // MARK: Over the air

    /// How many stand within one range of a node, itself left out, where none is at the edge.
    private static let crowd = 12.0

    /// Uniformly over a square; who stands apart from most others is put near one of them, since
    /// nobody plans a site that falls to pieces.
    private static func scattered(
        _ count: Int, _ plan: SitePlan, _ random: inout SeededGenerator
    ) -> [RadioField.Position] {
        let side = (Double(count) * 3.141_592_7 / crowd).squareRoot()
        var positions = (0..<count).map { _ in
            RadioField.Position(
                x: Double.random(in: 0..<side, using: &random),
                y: Double.random(in: 0..<side, using: &random))
        }
        while true {
            let field = RadioField(positions, seed: plan.seed)
            let largest = Self.largestPart(field)
            let apart = positions.indices.filter { !largest.contains($0) }
            if apart.isEmpty { return positions }
            let others = largest.sorted()
            for host in apart {
                let near = positions[others[Int.random(in: others.indices, using: &random)]]
                positions[host] = RadioField.Position(
                    x: near.x + Double.random(in: -0.5...0.5, using: &random),
                    y: near.y + Double.random(in: -0.5...0.5, using: &random))
            }
        }
    }

    /// Of those who hear each other well enough.
    private static func largestPart(_ field: RadioField) -> Set<Int> {
        var largest: Set<Int> = []
        var seen: Set<Int> = []
        for start in field.positions.indices where !seen.contains(start) {
            var part: Set<Int> = [start]
            var waiting = [start]
            while let host = waiting.popLast() {
                for hearing in field.hearers[host]
                where hearing.frameLoss < 0.4 && part.insert(hearing.host).inserted {
                    waiting.append(hearing.host)
                }
            }
            seen.formUnion(part)
            if part.count > largest.count { largest = part }
        }
        return largest
    }
}

/// Rows and columns as equal as can be; the last row may be shorter.
private struct Grid {
    let lans: [[Int]]
    let positions: [RadioField.Position]

    init(_ count: Int) {
        let columns = Int(Double(count).squareRoot().rounded(.up))
        positions = (0..<count).map {
            RadioField.Position(x: Double($0 % columns), y: Double($0 / columns))
        }
        var lans: [[Int]] = []
        for host in 0..<count {
            if host % columns + 1 < columns, host + 1 < count { lans.append([host, host + 1]) }
            if host + columns < count { lans.append([host, host + columns]) }
        }
        self.lans = lans
    }
}

/// LANs of some fifty nodes, and the links between them: a binary tree, with two links from each
/// LAN to the one above it, between nodes of their own.
private struct Sites {
    let lans: [[Int]]
    let bridges: [[Int]]

    init(_ count: Int) {
        let siteCount = max(2, count / 50)
        let firsts = (0...siteCount).map { $0 * count / siteCount }
        lans = (0..<siteCount).map { Array(firsts[$0]..<firsts[$0 + 1]) }
        var bridges: [[Int]] = []
        for site in 1..<siteCount {
            let above = lans[(site - 1) / 2]
            let place = 3 + 2 * ((site - 1) % 2)
            for bridge in 0..<2 { bridges.append([above[place + bridge], lans[site][1 + bridge]]) }
        }
        self.bridges = bridges
    }
}
