import CollectorConfiguration
import Fleet
import Outputs

/// Readings go into a stream of NATS JetStream, a message each, once each.
///
/// The servers drop a message whose id they know. They know it for the stream's duplicate window;
/// so that what was sent before a longer absence does not come in twice, the ids of the newest
/// messages are read back with each connection (`NATSReadBack`).
public final class NATSSink: OutputSink {
    private let settings: NATSSettings
    private let network: String
    private let subjects: NATSSubject
    private var connection: NATSConnection?
    /// Ids that were in the stream when we connected, at most `NATSReadBack.messagesMax`. Kept for
    /// as long as the connection: news comes before what was there long ago, so nothing says that
    /// no more of them will come.
    private var known: Set<String> = []

    public init(_ settings: NATSSettings, network: String) {
        self.settings = settings
        self.network = network
        subjects = NATSSubject(prefix: settings.prefix, network: network)
    }

    /// The servers.
    public static func target(_ settings: NATSSettings) -> String {
        settings.servers.joined(separator: ", ")
    }

    public func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        do throws(OutputFault) {
            let connection = try connected()
            let messages = NATSMessage.messages(batch, subjects)
            return try connection.publish(messages.filter { !known.contains($0.id) })
        } catch {
            connection = nil
            throw error
        }
    }

    public func idle(_ fleet: FleetSnapshot) throws(OutputFault) {
        if let connection, !connection.isAlive() { self.connection = nil }
        _ = try connected()
    }

    public func close() { connection = nil }

    private func connected() throws(OutputFault) -> NATSConnection {
        if let connection { return connection }
        let made = try NATSConnection(settings)
        let subject = subjects.all
        let stored = try NATSStreamCheck(made, settings).run(subject: subject)
        known = stored.map { NATSReadBack(made, settings, subject).ids(in: $0) } ?? []
        connection = made
        return made
    }
}
