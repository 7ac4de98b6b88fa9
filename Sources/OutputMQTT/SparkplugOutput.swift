import Fleet
import Glibc
import Outputs

/// Readings as Sparkplug B: the collector is an edge node, the nodes are its devices.
final class SparkplugOutput: OutputSink {
    private let session: BrokerSession
    private var edge: SparkplugEdge
    private let hostTopic: String?
    /// Whether the primary host application is there.
    private var isHostOnline = false

    init(_ session: BrokerSession, _ edge: SparkplugEdge, host: String?) {
        self.session = session
        self.edge = edge
        hostTopic = host.map { "spBv1.0/STATE/" + $0 }
    }

    func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        try session.attempt { () throws(OutputFault) in
            try connect()
            try look()
            var next = edge
            var receipt = OutputReceipt()
            try publish(next.messages(of: batch, utc: Self.utc), &receipt)
            edge = next
            receipt.remarks = edge.remarks
            edge.remarks = []
            receipt.leaveOut(edge.leftOutCount)
            edge.leftOutCount = 0
            return receipt
        }
    }

    func idle(_ fleet: FleetSnapshot) throws(OutputFault) {
        try session.attempt { () throws(OutputFault) in
            try connect()
            try look()
            var next = edge
            var receipt = OutputReceipt()
            try publish(next.messages(of: fleet, utc: Self.utc), &receipt)
            edge = next
        }
    }

    /// In order: the broker publishes no last will then, so it is said here (§5.5).
    func close() { session.close([edge.death(utc: Self.utc)]) }

    // MARK: Connection

    private func connect() throws(OutputFault) {
        guard session.connection == nil else { return }
        edge.connect()
        let connection = try session.open(will: edge.death(utc: Self.utc))
        try connection.mustSubscribe(edge.commandTopic, qos: 1)
        if let hostTopic {
            isHostOnline = false
            try connection.mustSubscribe(hostTopic, qos: 1)
            try connection.fence("spBv1.0/none")
            try look()
        }
        var receipt = OutputReceipt()
        try publish(edge.birth(utc: Self.utc), &receipt)
    }

    /// Takes commands, and heeds whether the host application is there.
    private func look() throws(OutputFault) {
        guard let connection = session.connection else { return }
        try connection.turn()
        var receipt = OutputReceipt()
        for message in connection.events.takeReceived() {
            if message.topic == hostTopic {
                isHostOnline = Self.saysOnline(message.payload)
            } else if message.topic == edge.commandTopic {
                try publish(edge.receive(message.payload, utc: Self.utc), &receipt)
            }
        }
        guard let hostTopic, !isHostOnline else { return }
        // Data that nobody takes would be lost: it stays in the store.
        session.close([edge.death(utc: Self.utc)])
        throw OutputFault(
            .unavailable,
            "\(session.settings.target): the host application is offline (\(hostTopic)); readings "
                + "wait until it is back")
    }

    /// Of `{"online":true,"timestamp":…}` (§6.4.20).
    private static func saysOnline(_ payload: [UInt8]) -> Bool {
        let dense = payload.filter { $0 > 0x20 }
        let wanted = Array("\"online\":true".utf8)
        return dense.indices.contains { dense[$0...].starts(with: wanted) }
    }

    /// Sends without acknowledgements, as Sparkplug demands, and then waits for an answer that
    /// comes behind them: the broker has them.
    private func publish(
        _ messages: [MQTTMessage], _ receipt: inout OutputReceipt
    ) throws(OutputFault) {
        guard !messages.isEmpty else { return }
        try session.publish(messages, &receipt)
        try session.connection?.fence("spBv1.0/none")
    }

    private static var utc: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
