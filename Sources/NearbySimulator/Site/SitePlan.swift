import NearbyCore
import NearbyEngine

/// How the nodes of a site stand to each other.
public enum SiteShape: String, CaseIterable, Sendable {
    /// In a row, each wired to the next.
    case line
    /// The same, closed.
    case ring
    /// In rows and columns, each wired to the four around it.
    case grid
    /// Scattered over a square, with radios: each hears a dozen others, some of them badly.
    case random
    /// All on one wire.
    case lan
    /// Some fifty on a LAN each, and between two LANs two radio links.
    case sites
}

/// A site that somebody plans.
public struct SitePlan: Sendable {
    public var shape = SiteShape.random
    public var nodes = 100
    /// Among the nodes, spread over the site.
    public var collectors = 1
    /// Of a hundred datagrams on any link, beside those that the distance costs.
    public var lossPercent = 0
    /// Of a hundred nodes, those that are heard over 0.7 of the range only, though they hear as
    /// well as others.
    public var weakPercent = 0
    /// Of a hundred agents, those that walk about, a range in half a minute.
    public var movingPercent = 0
    /// Of a hundred agents, those that are without power for 40 s of each minute.
    public var sleepingPercent = 0
    /// Between two messages of an agent to its collector.
    public var interval = Duration.seconds(1)
    public var seed: UInt64 = 1

    public init() {}

    public static let nodesMax = 10_000
    public static let collectorsMax = 16

    /// What cannot be: nil if it can.
    public var fault: SitePlanFault? {
        let nodesMin = shape == .sites ? 16 : shape == .ring || shape == .grid ? 4 : 2
        guard (nodesMin...Self.nodesMax).contains(nodes) else {
            return .nodes(shape, nodesMin...Self.nodesMax)
        }
        guard collectors >= 1, collectors < nodes, collectors <= Self.collectorsMax else {
            return .collectors(max: min(nodes - 1, Self.collectorsMax))
        }
        guard (0...50).contains(lossPercent) else { return .loss }
        for (name, percent) in [
            ("weak", weakPercent), ("moving", movingPercent), ("sleeping", sleepingPercent),
        ] where !(0...100).contains(percent) {
            return .percent(name)
        }
        if shape != .random, weakPercent > 0 { return .onlyOverTheAir("weak") }
        if shape != .random, movingPercent > 0 { return .onlyOverTheAir("moving") }
        return nil
    }
}

/// Why a plan cannot be simulated, as a sentence.
public enum SitePlanFault: Error, Equatable, CustomStringConvertible, Sendable {
    case nodes(SiteShape, ClosedRange<Int>)
    case collectors(max: Int)
    case loss
    case percent(String)
    case onlyOverTheAir(String)

    public var description: String {
        switch self {
        case .nodes(let shape, let range):
            "--topology \(shape.rawValue) takes \(range.lowerBound) to \(range.upperBound) nodes"
        case .collectors(let max): "there are 1 to \(max) collectors among so many nodes"
        case .loss: "the loss is 0 to 50 percent: with more no link stays up"
        case .percent(let name): "--\(name) is a part of the nodes, 0 to 100 percent"
        case .onlyOverTheAir(let name):
            "--\(name) is for --topology random: in the others wires say who hears whom"
        }
    }
}
