import CollectorConfiguration
import Fleet
import NearbyCore
import Outputs

/// A broker: MQTT 5 or 3.1.1 through libmosquitto; topics of our own, or Sparkplug B.
public final class MQTTOutput: OutputSink {
    private let sink: any OutputSink

    /// - Parameters:
    ///   - name: the output's. Where no client ID is set, one is made from this name and the
    ///     collector's PeerID; with the same ID, two outputs to one broker would disconnect each
    ///     other.
    ///   - network: the network's name.
    ///   - collector: the collector that delivers.
    ///   - start: a number that differs from process to process.
    ///   - patience: how long the broker may be silent while something is due.
    public init(
        _ settings: MQTTSettings, name: String, network: String, collector: PeerID,
        start: UInt64, patience: Duration = .seconds(10)
    ) {
        let session = BrokerSession(
            settings, clientID: Self.clientID(of: collector, name), patience: patience)
        switch settings.dialect {
        case .topics(let homeAssistant):
            var options = TopicPublisher.Options()
            options.prefix = settings.prefix
            options.network = network
            options.collector = collector
            options.isJSON = settings.payload == .json
            options.isRetained = settings.isRetained
            options.wantsLate = settings.wantsLate
            options.forget = settings.forget
            options.homeAssistant = homeAssistant
            sink = TopicOutput(session, options)
        case .sparkplug(let group, let edge, let host):
            sink = SparkplugOutput(
                session, SparkplugEdge(group: group, edge: edge, start: UInt8(start & 0xff)),
                host: host)
        }
    }

    /// 23 letters and digits but for the hyphens: what every broker takes (MQTT 3.1.1, section
    /// 3.1.3.1). The output's name is hashed (FNV-1a, of which 20 bits).
    static func clientID(of collector: PeerID, _ name: String) -> String {
        let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
        }
        let digits = String((hash >> 40) & 0xf_ffff | 0x10_0000, radix: 16).dropFirst()
        return "rivulet-" + collector.description.filter { $0 != "-" }.prefix(10) + digits
    }

    public func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        try sink.deliver(batch)
    }

    public func idle(_ fleet: FleetSnapshot) throws(OutputFault) { try sink.idle(fleet) }

    public func close() { sink.close() }
}

extension OutputReceipt {
    /// Readings of nodes and channels beyond what an output keeps track of.
    mutating func leaveOut(_ count: Int) {
        guard count > 0 else { return }
        refusedCount += count
        refusal = refusal ?? "more nodes or channels than one output keeps track of"
    }
}
