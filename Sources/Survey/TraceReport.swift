import NearbyCore
import NodeShell

/// `rivulet trace`: who is so many links away on the way to a node, with the times of a few
/// questions.
public struct TraceReport {
    /// What the questions with one hop limit brought.
    public struct Hop: Equatable {
        public var number: Int
        public var replies: [EchoReply]

        public init(number: Int, replies: [EchoReply]) {
            self.number = number
            self.replies = replies
        }

        var isSilent: Bool { !replies.contains { $0.echo != nil } }
    }

    private let map: NetworkMap
    private let peer: PeerID
    public private(set) var hops: [Hop] = []
    /// The node itself, over its channel, where none of its hops answered.
    public var end: EchoReply?
    /// Whether the limit on hops ended the trace.
    public var isCut = false

    public init(_ map: NetworkMap, _ peer: PeerID) {
        self.map = map
        self.peer = peer
    }

    /// The node itself has answered.
    public var isComplete: Bool {
        hops.last?.replies.contains { $0.echo?.isOf(peer) == true } == true
    }

    /// Nobody answers any more: further hops would not either.
    public var isHopeless: Bool {
        if hops.last?.replies.contains(.noRoute) == true { return true }
        let silent = hops.reversed().prefix { $0.isSilent }.count
        return silent >= max(Self.silentHopsMax, (map[peer]?.hops ?? 0) + 1 - (hops.count - silent))
    }

    public var head: String { "trace to \(map.fullLabel(of: peer))" }

    /// The hop's line: number, node, link, times; `*` for what was not answered.
    public mutating func line(_ hop: Hop) -> String {
        hops.append(hop)
        let first = hop.replies.compactMap(\.echo).first
        let number = "\(hop.number)"
        var line = String(repeating: " ", count: max(0, 2 - number.count)) + number + "  "
        line += Column.fitted(first?.label(map) ?? "*", 34) + "  "
        line += Column.fitted(first?.link ?? "", 9)
        for reply in hop.replies { line += " " + Column.right(text(reply, beside: first), 9) }
        let others = hop.replies.compactMap(\.echo).filter { $0.shortText != first?.shortText }
        for other in others { line += "  \(other.label(map))" }
        return Column.trimmed(line)
    }

    private func text(_ reply: EchoReply, beside first: EchoReply.Echo?) -> String {
        guard let echo = reply.echo else { return "*" }
        return EchoReply.time(echo.nanoseconds)
    }

    /// What is to be said in the end, if anything.
    public var remark: String? {
        guard !isComplete else { return nil }
        if isCut {
            let count = hops.count == 1 ? "1 hop" : "\(hops.count) hops"
            return "stopped after \(count), as --max-hops says"
        }
        let name = map.label(of: peer)
        if hops.last?.replies.contains(.noRoute) == true { return "no route to \(name) any more" }
        guard let echo = end?.echo else { return "\(name) does not answer" }
        return
            "\(name) answers over its channel, \(echo.hops == 1 ? "1 hop" : "\(echo.hops) hops"), "
            + "\(EchoReply.time(echo.nanoseconds)); it, or who is before it, is of a version "
            + "without trace"
    }

    public var json: JSONValue {
        .object([
            ("peer", .string(peer.description)),
            ("name", .shown(map[peer]?.name)),
            ("reached", .flag(isComplete || end?.echo != nil)),
            ("hops", .array(hops.map(member))),
        ])
    }

    private func member(_ hop: Hop) -> JSONValue {
        .object([
            ("hop", .number(Int64(hop.number))),
            (
                "answers",
                .array(
                    hop.replies.map { reply in
                        guard let echo = reply.echo else { return .null }
                        return .object([
                            ("peer", .string(echo.member(map)?.peer.description ?? echo.shortText)),
                            ("name", .shown(echo.name(map))),
                            ("link", echo.link.map { .string($0) } ?? .null),
                            ("microseconds", .microseconds(echo.nanoseconds)),
                        ])
                    })
            ),
        ])
    }

    private static let silentHopsMax = 3
}
