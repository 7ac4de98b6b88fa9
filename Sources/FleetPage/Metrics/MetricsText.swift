import Fleet
import NearbyCore
import Outputs
import Telemetry

/// The fleet for Prometheus: OpenMetrics 1.0, or the older text format 0.0.4. A family's samples
/// stand together, under its TYPE, UNIT and HELP.
struct MetricsText {
    static func response(_ snapshot: FleetSnapshot, openMetrics: Bool) -> PageResponse {
        var text = MetricsText(openMetrics: openMetrics)
        text.addChannels(snapshot)
        text.addNodes(snapshot)
        text.addLinks(snapshot)
        text.addCollector(snapshot.collector)
        text.addOutputs(snapshot.outputs)
        if openMetrics { text.bytes += "# EOF\n".utf8 }
        let type =
            openMetrics
            ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
            : "text/plain; version=0.0.4; charset=utf-8"
        return PageResponse(type: type, text.bytes)
    }

    private typealias Pairs = [(name: String, value: String)]

    private enum Kind: String {
        case gauge, counter, info

        var suffix: String {
            switch self {
            case .gauge: ""
            case .counter: "_total"
            case .info: "_info"
            }
        }
    }

    private struct Sample {
        var labels: String
        var value: String
    }

    private let openMetrics: Bool
    private var bytes: [UInt8] = []

    private init(openMetrics: Bool) { self.openMetrics = openMetrics }

    // MARK: Channels

    private mutating func addChannels(_ snapshot: FleetSnapshot) {
        for family in ChannelFamilies(snapshot.nodes).ascending where !family.lines.isEmpty {
            bytes += header(
                family.name, .gauge, unit: family.unit,
                "The newest reading of each channel of this name.")
            bytes += family.lines
        }
    }

    // MARK: Nodes and links

    private mutating func addNodes(_ snapshot: FleetSnapshot) {
        let labels = snapshot.nodes.map { Self.text(Self.labels($0)) }
        func samples(_ value: (FleetNode) -> String?) -> [Sample] {
            zip(snapshot.nodes, labels).compactMap { node, labels in
                value(node).map { Sample(labels: labels, value: $0) }
            }
        }
        add(
            "rivulet_mesh_node_online", .gauge, "Whether the node is in reach.",
            samples { $0.isOnline ? "1" : "0" })
        add(
            "rivulet_mesh_node_age_seconds", .gauge, unit: "seconds",
            "Time since the node was last heard of.",
            samples { $0.age.map { Self.number(Double($0.nanoseconds) / 1e9) } })
        add(
            "rivulet_mesh_node_hops", .gauge, "Links between the node and the collector.",
            samples { $0.hops.map(String.init) })
        add(
            "rivulet_mesh_node_readings", .counter, "Readings that came from the node.",
            samples { String($0.readingCount) })
        add(
            "rivulet_mesh_node_lost_readings", .counter,
            "Readings of the node that were lost.", samples { String($0.lostCount) })
    }

    private mutating func addLinks(_ snapshot: FleetSnapshot) {
        let names = Dictionary(snapshot.nodes.map { ($0.peer, $0.name) }) { first, _ in first }
        // Two ways between the same two nodes over one kind of link are one series: the better.
        var best: [String: FleetLink] = [:]
        for link in snapshot.links {
            let labels = Self.text([
                ("from", link.from.description), ("from_node", names[link.from] ?? ""),
                ("link", link.link), ("to", link.to.description),
                ("to_node", names[link.to] ?? ""),
            ])
            if best[labels].map({ $0.cost <= link.cost }) != true { best[labels] = link }
        }
        let links = best.sorted { $0.key < $1.key }
        add(
            "rivulet_mesh_link_cost", .gauge, "Cost of a link, as routes count it.",
            links.map { Sample(labels: $0.key, value: String($0.value.cost)) })
        add(
            "rivulet_mesh_link_loss_ratio", .gauge, unit: "ratio",
            "Share of frames that a link loses.",
            links.compactMap { labels, link in
                link.lossPercent.map { Sample(labels: labels, value: Self.number($0 / 100)) }
            })
    }

    private static func labels(_ node: FleetNode) -> Pairs {
        [("node", node.name), ("peer", node.peer.description), ("role", node.role)]
    }

    // MARK: The collector

    private mutating func addCollector(_ collector: FleetCollector) {
        func one(_ value: String) -> [Sample] { [Sample(labels: "", value: value)] }
        let info = Self.text([("network", collector.network), ("version", collector.version)])
        add(
            "rivulet_collector_build", .info, "The collector's version and network.",
            [Sample(labels: info, value: "1")])
        add(
            "rivulet_collector_uptime_seconds", .gauge, unit: "seconds",
            "Time since the collector started.",
            one(Self.number(Double(collector.uptime.nanoseconds) / 1e9)))
        add(
            "rivulet_collector_readings", .counter, "Readings that the collector received.",
            one(String(collector.readingCount)))
        add(
            "rivulet_collector_uncommitted_readings", .gauge,
            "Readings that wait for the store.",
            one(String(collector.uncommittedCount)))
        add(
            "rivulet_collector_store_working", .gauge, "Whether the store accepts readings.",
            one(collector.storeFault == nil ? "1" : "0"))
        add(
            "rivulet_collector_store_size_bytes", .gauge, unit: "bytes",
            "Bytes of the store's files.",
            collector.storeBytes.map { one(String($0)) } ?? [])
        add(
            "rivulet_collector_drops", .counter, "What was dropped, by reason.",
            collector.drops.map {
                Sample(labels: Self.text([("reason", $0.reason)]), value: String($0.count))
            })
    }

    private mutating func addOutputs(_ outputs: [OutputStatus]) {
        func samples(_ value: (OutputStatus) -> String) -> [Sample] {
            outputs.map {
                let labels = Self.text([("kind", $0.kind), ("output", $0.name)])
                return Sample(labels: labels, value: value($0))
            }
        }
        add(
            "rivulet_collector_output_working", .gauge, "Whether the output delivers.",
            samples { $0.phase == .failing || $0.phase == .stopped ? "0" : "1" })
        add(
            "rivulet_collector_output_lag_seconds", .gauge, unit: "seconds",
            "Age of the oldest reading that waits for the output.",
            samples { Self.number(Double($0.lag.nanoseconds) / 1e9) })
        add(
            "rivulet_collector_output_waiting_readings", .gauge,
            "Readings that wait for the output.", samples { String($0.waitingCount) })
        add(
            "rivulet_collector_output_delivered_readings", .counter,
            "Readings that the output delivered.", samples { String($0.deliveredCount) })
        add(
            "rivulet_collector_output_refused_readings", .counter,
            "Readings that the other side refused.", samples { String($0.refusedCount) })
        add(
            "rivulet_collector_output_lost_readings", .counter,
            "Readings that were deleted before they were delivered.",
            samples { String($0.lostCount) })
    }

    // MARK: Text

    /// A family; nothing if it has no samples. Counters and infos have their suffixes added.
    private mutating func add(
        _ name: String, _ kind: Kind, unit: String = "", _ help: String, _ samples: [Sample]
    ) {
        guard !samples.isEmpty else { return }
        bytes += header(name, kind, unit: unit, help)
        for sample in samples {
            bytes += "\(name)\(kind.suffix)\(sample.labels) \(sample.value)\n".utf8
        }
    }

    private func header(
        _ name: String, _ kind: Kind, unit: String, _ help: String
    ) -> String.UTF8View {
        // The older format knows neither infos nor names without suffixes.
        let family = openMetrics ? name : name + kind.suffix
        let type = openMetrics || kind != .info ? kind.rawValue : "gauge"
        let unit = openMetrics && !unit.isEmpty ? "# UNIT \(family) \(unit)\n" : ""
        return "# TYPE \(family) \(type)\n\(unit)# HELP \(family) \(help)\n".utf8
    }

    /// Without those that are empty.
    private static func text(_ labels: Pairs) -> String {
        let pairs = labels.filter { !$0.value.isEmpty }
            .map { "\($0.name)=\"\(MetricLabels.escaped($0.value))\"" }
        return pairs.isEmpty ? "" : "{" + pairs.joined(separator: ",") + "}"
    }

    private static func number(_ value: Double) -> String { value.isFinite ? "\(value)" : "NaN" }
}
