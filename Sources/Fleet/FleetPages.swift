import NearbyCore

extension Limits {
    /// What an answer of the control socket may take before its last node, bytes.
    static let fleetPageBytes = 256 << 10
}

/// A snapshot in pieces that a control socket can say: nodes until there are enough bytes, and
/// where to go on.
public struct FleetPages: Sendable {
    private var snapshot: FleetSnapshot?

    public init() {}

    /// Answers a request of the control socket, `fleet [NODES TO SKIP]`; nil: it is another one.
    ///
    /// - Parameter take: makes a snapshot.
    public mutating func answer(_ request: String, take: () -> FleetSnapshot) -> [String]? {
        let words = request.split(separator: " ")
        guard words.first == "fleet", words.count <= 2 else { return nil }
        guard let place = words.count == 1 ? 0 : Int(words[1]), place >= 0 else {
            return ["error fleet [NODES TO SKIP]"]
        }
        return [page(from: place, take: take)]
    }

    /// One JSON object: what `FleetJSON.snapshot` has, with as many nodes as fit, and `next`: how
    /// many nodes to skip for the rest, null at the end. Links, outputs and alarms come with the
    /// first.
    ///
    /// - Parameters:
    ///   - place: how many nodes to skip; 0 takes a new snapshot.
    ///   - take: makes one.
    public mutating func page(from place: Int, take: () -> FleetSnapshot) -> String {
        let whole = place == 0 ? take() : snapshot ?? take()
        snapshot = whole
        var json = JSONText()
        var end = min(place, whole.nodes.count)
        json.object { json in
            json.key("collector")
            FleetJSON.collector(&json, whole.collector)
            if place == 0 { FleetJSON.rest(&json, whole) }
            json.key("nodes")
            json.array { json in
                while end < whole.nodes.count, json.bytes.count < Limits.fleetPageBytes {
                    FleetJSON.node(&json, whole.nodes[end], at: whole.collector.utc)
                    end += 1
                }
            }
            json.add("next", end < whole.nodes.count ? end : nil)
        }
        if end == whole.nodes.count { snapshot = nil }
        return json.text
    }
}
