import NearbyCore
import Telemetry

/// Which series of a metric a channel is: node, channel, peer, and the node's labels as
/// `label_…`. In ascending order of names, no name twice, no value empty.
///
/// The run is none of them: a series goes on when its agent starts anew.
public struct MetricLabels: Hashable, Sendable {
    public struct Pair: Hashable, Sendable {
        public let name: String
        /// Foreign text: escape it where it is printed.
        public let value: String
    }

    public let pairs: [Pair]

    /// - Parameter labels: ascending by key. Of those that come to one name the first one stands.
    public init(node: String, peer: PeerID, channel: String, labels: [Label]) {
        var pairs = [
            Pair(name: "channel", value: channel), Pair(name: "node", value: node),
            Pair(name: "peer", value: peer.description),
        ]
        for label in labels {
            let name = "label_" + Self.name(label.key)
            if !pairs.contains(where: { $0.name == name }) {
                pairs.append(Pair(name: name, value: label.value))
            }
        }
        self.pairs = pairs.filter { !$0.value.isEmpty }
            .sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
    }

    public init(_ series: OutputSeries) {
        self.init(
            node: series.node.name, peer: series.node.peer, channel: series.channel,
            labels: series.node.labels)
    }

    /// `channel="…",node="…",peer="…"`, as the text formats have it between braces.
    public var list: String {
        pairs.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    }

    /// For a text between quotation marks: OpenMetrics and Prometheus escape the same three.
    /// Other controls are legal and stay.
    public static func escaped(_ text: String) -> String {
        let special: [UInt8] = [UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "\n")]
        guard text.utf8.contains(where: special.contains) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Lower-case letters, digits and underscores.
    private static func name(_ key: String) -> String {
        var name = ""
        for scalar in key.unicodeScalars {
            switch scalar {
            case "a"..."z", "0"..."9": name.unicodeScalars.append(scalar)
            case "A"..."Z":
                name.unicodeScalars.append(Unicode.Scalar(UInt8(scalar.value) | 0x20))
            default: name += "_"
            }
        }
        return name
    }
}
