import NearbyCore
import NodeShell

/// What came of one echo, as the control socket says it.
public enum EchoReply: Equatable, Sendable {
    case answered(Echo)
    case silent
    case noRoute

    public struct Echo: Equatable, Sendable {
        public var nanoseconds: Int64
        /// Links that the answer crossed.
        public var hops: Int
        /// What the question came over last; nil: not told.
        public var link: String?
        /// How its PeerID begins.
        public var shortText: String
        /// As it calls itself, not fit for a terminal; empty: not told.
        public var name: String

        public init(
            nanoseconds: Int64, hops: Int, link: String? = nil, from shortText: String,
            name: String = ""
        ) {
            self.nanoseconds = nanoseconds
            self.hops = hops
            self.link = link
            self.shortText = shortText
            self.name = name
        }
    }

    /// The first line of an answer to `echo` (`ControlService`).
    public init(line: String) throws(SurveyError) {
        let words = line.split(
            separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
        switch words.first {
        case "silent": self = .silent
        case "no-route": self = .noRoute
        case "answered" where words.count == 6:
            self = .answered(
                Echo(
                    nanoseconds: Int64(words[1]) ?? 0, hops: Int(words[2]) ?? 0,
                    link: words[3] == "-" ? nil : String(words[3]), from: String(words[4]),
                    name: String(words[5])))
        default: throw .tooOld
        }
    }

    public var echo: Echo? { if case .answered(let echo) = self { echo } else { nil } }

    /// The request for it.
    ///
    /// - Parameter hopLimit: nil: the peer itself.
    public static func request(_ peer: PeerID, hopLimit: Int?, patience: Duration) -> String {
        "echo \(peer) \(hopLimit ?? 0) \(max(1, patience.milliseconds))"
    }

    /// `0.412 ms`, `12.3 ms`, `1250 ms`: three digits and more.
    static func time(_ nanoseconds: Int64) -> String { digits(nanoseconds) + " ms" }

    static func digits(_ nanoseconds: Int64) -> String {
        let microseconds = max(0, nanoseconds) / 1_000
        let (whole, rest) = (microseconds / 1_000, microseconds % 1_000)
        func padded(_ value: Int64, _ count: Int) -> String {
            String(repeating: "0", count: max(0, count - "\(value)".count)) + "\(value)"
        }
        switch whole {
        case ..<10: return "\(whole).\(padded(rest, 3))"
        case ..<100: return "\(whole).\(padded(rest / 10, 2))"
        case ..<1_000: return "\(whole).\(rest / 100)"
        default: return "\(whole)"
        }
    }
}

extension EchoReply.Echo {
    func isOf(_ peer: PeerID) -> Bool { shortText == peer.shortText }

    /// Whom the map knows by this beginning.
    func member(_ map: NetworkMap) -> NetworkMap.MappedNode? {
        isOf(map.own.peer) ? map.own : map.members.first { isOf($0.peer) }
    }

    /// Who it is, by the map or by its own word; fit for a terminal.
    func label(_ map: NetworkMap) -> String {
        if let member = member(map), !member.name.isEmpty { return map.fullLabel(of: member.peer) }
        let (said, short) = (NetworkMap.printable(name), NetworkMap.printable(shortText))
        return said.isEmpty ? short : "\(said) (\(short))"
    }

    /// As known to the map, else by its own word.
    func name(_ map: NetworkMap) -> String? {
        let known = member(map)?.name ?? ""
        return known.isEmpty ? (name.isEmpty ? nil : name) : known
    }
}
