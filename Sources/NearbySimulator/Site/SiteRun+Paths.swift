import NearbyCore
import NearbyEngine

/// What the paths to the collectors cost, beside the cheapest that there could be.
extension SiteRun {
    /// The hosts on the path of one to its collector, both ends included; nil: none leads there.
    public func path(from host: Host, to collector: Host? = nil) -> [Int]? {
        let chosen = host.collector.flatMap { simulator.number(of: $0) }
        guard let end = collector?.number ?? chosen else { return nil }
        var path = [host.number]
        while let here = path.last, here != end, path.count <= simulator.hosts.count {
            guard simulator.hosts[here].isUp,
                let next = simulator.forwardingHost(
                    from: simulator.hosts[here], to: simulator.hosts[end]), next.isUp
            else { return nil }
            path.append(next.number)
        }
        return path.last == end ? path : nil
    }

    func measurePaths() {
        let graph = TrueGraph(simulator)
        var ratios: [(ratio: Double, host: Int)] = []
        var pathless = 0
        // Each to the collector that it has: that it has the nearest is another matter.
        let toCollectors = Dictionary(
            uniqueKeysWithValues: collectors.map { ($0.number, graph.distances(from: [$0.number])) }
        )
        for number in reachable where simulator.hosts[number].isUp {
            guard let path = path(from: simulator.hosts[number]), let end = path.last,
                let best = toCollectors[end]?[number]?.cost, best > 0
            else {
                pathless += 1
                continue
            }
            var cost = 0.0
            for (one, next) in zip(path, path.dropFirst()) {
                cost += graph.cost(one, next) ?? .infinity
            }
            ratios.append((cost / best, number))
        }
        guard let worst = ratios.max(by: { $0.ratio < $1.ratio }) else {
            return add("paths", "none lead to a collector", .missed("all"))
        }
        let mean = ratios.reduce(0) { $0 + $1.ratio } / Double(ratios.count)
        let over = ratios.filter { $0.ratio > Self.ratioMax }.count
        let text =
            "\(Figure.hundredths(mean)) × the cheapest on average, "
            + "\(Figure.hundredths(worst.ratio)) at worst (node \(worst.host)), "
            + "\(Figure.percent(over, of: ratios.count)) over 1.3"
            + (pathless > 0 ? "; \(pathless) have none" : "")
        let isKept = worst.ratio <= Self.ratioMax && pathless == 0
        add("paths", text, isStill ? .init(isKept, "1.3 ×") : .none)
    }

    static let ratioMax = 1.3
}
