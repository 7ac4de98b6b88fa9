import NearbyCore
import NodeShell

/// `rivulet ping`: a line for each question, and sums in the end, as ping(8) has them.
public struct PingReport {
    private let map: NetworkMap
    private let peer: PeerID
    private var times: [Int64] = []
    public private(set) var asked = 0
    public var answered: Int { times.count }

    public init(_ map: NetworkMap, _ peer: PeerID) {
        self.map = map
        self.peer = peer
    }

    public var head: String {
        let way =
            map[peer]?.hasChannel == true ? "over the channel with it" : "through the mesh"
        return "PING \(map.fullLabel(of: peer)) \(way)"
    }

    /// The line about the next question.
    public mutating func line(_ reply: EchoReply) -> String {
        asked += 1
        switch reply {
        case .answered(let echo):
            times.append(echo.nanoseconds)
            let hops = echo.hops == 1 ? "1 hop" : "\(echo.hops) hops"
            return "answer from \(map.label(of: peer)): number \(asked), \(hops), "
                + EchoReply.time(echo.nanoseconds)
        case .silent: return "no answer: number \(asked)"
        case .noRoute: return "no route: number \(asked)"
        }
    }

    public func summary(took: Duration) -> [String] {
        let lost = asked == 0 ? 0 : (asked - answered) * 100 / asked
        var lines = [
            "", "--- \(map.label(of: peer)) ---",
            "\(asked) asked, \(answered) answered, \(lost) % lost, in \(took.milliseconds) ms",
        ]
        if let figures {
            let texts = [figures.min, figures.mean, figures.max, figures.deviation]
            lines.append(
                "round trip min/mean/max/deviation "
                    + texts.map(EchoReply.digits).joined(separator: "/") + " ms")
        }
        return lines
    }

    public func json(took: Duration) -> JSONValue {
        func microseconds(_ value: Int64?) -> JSONValue { value.map { .microseconds($0) } ?? .null }
        return .object([
            ("peer", .string(peer.description)),
            ("name", .shown(map[peer]?.name)),
            ("asked", .number(Int64(asked))),
            ("answered", .number(Int64(answered))),
            ("tookMilliseconds", .number(took.milliseconds)),
            ("minMicroseconds", microseconds(figures?.min)),
            ("meanMicroseconds", microseconds(figures?.mean)),
            ("maxMicroseconds", microseconds(figures?.max)),
            ("deviationMicroseconds", microseconds(figures?.deviation)),
            ("microseconds", .array(times.map { .microseconds($0) })),
        ])
    }

    private typealias Figures = (min: Int64, mean: Int64, max: Int64, deviation: Int64)

    /// Nanoseconds.
    private var figures: Figures? {
        guard let min = times.min(), let max = times.max() else { return nil }
        let count = Double(times.count)
        let mean = times.reduce(0.0) { $0 + Double($1) } / count
        let variance =
            times.reduce(0.0) { $0 + (Double($1) - mean) * (Double($1) - mean) } / count
        return (min, Int64(mean), max, Int64(variance.squareRoot()))
    }
}

extension JSONValue {
    /// A name from outside; null where none is known.
    static func shown(_ name: String?) -> JSONValue {
        name.map { $0.isEmpty ? .null : .string($0) } ?? .null
    }

    /// Whole microseconds.
    static func microseconds(_ nanoseconds: Int64) -> JSONValue {
        .number(max(0, nanoseconds) / 1_000)
    }
}
