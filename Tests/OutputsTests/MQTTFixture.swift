import Fleet
import NearbyCore
import Telemetry

@testable import Outputs

/// Nodes, batches and snapshots for the tests of what brokers are told.
enum Plant {
    static let oven = PeerID(high: 1, low: 2)
    static let bench = PeerID(high: 3, low: 4)
    static let collector = PeerID(high: 9, low: 9)
    static let run = RunID(value: 0x4d)
    static let second: Int64 = 1_000_000_000
    /// 2025-11-23T08:15:00Z.
    static let begin: Int64 = 1_763_885_700 * second

    static func node(_ peer: PeerID, _ name: String) -> OutputNode {
        OutputNode(
            peer: peer, run: run, name: name, labels: [Label(key: "room", value: "Kitchen")],
            board: "Pi 5")
    }

    /// Readings of one channel, (seconds after the begin, outcome), numbered from `first`.
    static func batch(
        _ readings: [(Int64, Outcome)], of peer: PeerID = oven, named name: String = "oven",
        channel: String = "heat", unit: Unit = .celsius, first: UInt64 = 1
    ) -> OutputBatch {
        var batch = OutputBatch()
        batch.series = [
            OutputSeries(
                node: node(peer, name), number: 1, channel: channel, unit: unit, scale: -2)
        ]
        for (index, (seconds, outcome)) in readings.enumerated() {
            batch.readings.append(
                OutputReading(
                    series: 0, sequence: first + UInt64(index), milliseconds: 0,
                    utc: begin + seconds * second, outcome: outcome, hops: 1))
        }
        return batch
    }

    static func value(_ hundredths: Int64) -> Outcome {
        .value(DecimalValue(coefficient: hundredths, exponent: -2))
    }

    /// A snapshot so many seconds after the begin, with the channels of each node.
    static func fleet(
        _ seconds: Int64, _ nodes: [(peer: PeerID, name: String, isOnline: Bool, age: Int64)],
        channels: [String] = ["heat"]
    ) -> FleetSnapshot {
        var fleet = FleetSnapshot()
        fleet.collector.utc = begin + seconds * second
        fleet.collector.uptime = .seconds(seconds)
        fleet.collector.version = "1.0"
        for (peer, name, isOnline, age) in nodes {
            var node = FleetNode(peer: peer, name: name, role: "agent")
            node.isOnline = isOnline
            node.age = .seconds(age)
            node.version = "1.0"
            node.board = "Pi 5"
            node.labels = [Label(key: "room", value: "Kitchen")]
            node.link = "wifi"
            node.channels = channels.map {
                FleetChannel(
                    name: $0, unit: .celsius, scale: -2, last: value(1), utc: begin, hops: 1)
            }
            fleet.nodes.append(node)
        }
        return fleet
    }
}

extension [TopicPublisher.Output] {
    var messages: [MQTTMessage] {
        compactMap { if case .publish(let message) = $0 { message } else { nil } }
    }

    var purges: [[String]] {
        compactMap { if case .purge(let filters) = $0 { filters } else { nil } }
    }

    /// The payload on a topic, of the last message there.
    func text(_ topic: String) -> String? {
        messages.last { $0.topic == topic }.map { String(decoding: $0.payload, as: UTF8.self) }
    }
}
