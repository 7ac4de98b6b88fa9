import CollectorConfiguration
import Fleet
import NearbyCore
import NearbyLinux
import OutputFiles
import OutputHTTP
import OutputMQTT
import OutputNATS
import OutputPostgres
import Outputs

/// A line for the log.
public struct OutputMessage: Sendable {
    public enum Level: Sendable { case fault, diagnostic }

    public var level: Level
    public var text: String
}

/// What all outputs of a collector have in common.
final class OutputContext: Sendable {
    let exchange: OutputExchange
    /// How the network looks.
    let board: FleetBoard
    let messages: Mailbox<OutputMessage>
    let seed: UInt64
    private let collector: PeerID
    private let network: String

    init(
        _ exchange: OutputExchange, _ board: FleetBoard, collector: PeerID, network: String,
        seed: UInt64
    ) throws(SystemError) {
        self.exchange = exchange
        self.board = board
        self.collector = collector
        self.network = network
        self.seed = seed
        messages = try Mailbox()
    }

    /// The only place that knows which sink goes with which settings.
    func sink(of output: OutputSettings) -> any OutputSink {
        switch output.kind {
        case .json(let settings): sink(settings)
        case .influx(let settings): InfluxOutput(settings)
        case .prometheus(let settings): RemoteWriteOutput(settings)
        case .postgres(let settings): PostgresSink(settings, collector: collector)
        case .nats(let settings): NATSSink(settings, network: network)
        case .mqtt(let settings):
            MQTTOutput(
                settings, name: output.name, network: network, collector: collector, start: seed)
        }
    }

    private func sink(_ settings: JSONOutputSettings) -> any OutputSink {
        switch settings.place {
        case .file(let path, let sizeMax, let filesMax):
            JSONFileOutput(path, sizeMax: sizeMax, filesMax: filesMax)
        case .standardOutput: JSONStreamOutput(timeLimit: settings.timeLimit)
        case .command(let words, let acknowledges):
            JSONCommandOutput(words, acknowledges: acknowledges, timeLimit: settings.timeLimit)
        }
    }

    func tell(_ output: String, _ diagnostic: OutputMachine.Diagnostic) {
        let (level, text): (OutputMessage.Level, String) =
            switch diagnostic {
            case .fault(let text): (.fault, "\(text); trying again, readings wait in the store")
            case .works(let duration):
                (.diagnostic, "works again after \(duration.components.seconds) s")
            case .refused(let count, let reason):
                (.fault, "\(count) readings were refused, and are skipped: \(reason)")
            case .remark(let text): (.fault, text)
            }
        _ = messages.post(OutputMessage(level: level, text: "output \(output): \(text)"))
    }
}
