import CollectorConfiguration
import Fleet
import NearbyCore
import Outputs

/// A broker: MQTT 5 or 3.1.1 through libmosquitto; topics of our own, or Sparkplug B.
public final class MQTTOutput: OutputSink {
    private let sink: any OutputSink

    /// - Parameters:
    ///   - network: the network's name.
    ///   - collector: who delivers; of it the client ID is made.
    ///   - start: a number that differs from process to process.
    ///   - patience: how long the broker may be silent while something is due.
    public init(
        _ settings: MQTTSettings, network: String, collector: PeerID, start: UInt64,
        patience: Duration = .seconds(10)
    ) {
        let id = collector.description.filter { $0 != "-" }
        let session = BrokerSession(
            settings, clientID: "rivulet-" + id.prefix(14), patience: patience)
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
