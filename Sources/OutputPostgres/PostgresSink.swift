import CollectorConfiguration
import Fleet
import NearbyCore
import Outputs

/// Readings go into tables of PostgreSQL, once each, whoever else writes there.
///
/// What the connection knows of the database (`PostgresSession`) goes with it: after a fault
/// everything is asked anew.
public final class PostgresSink: OutputSink {
    private let settings: PostgresSettings
    private let collector: PeerID
    private var session: PostgresSession?

    /// - Parameter collector: ours, by which readings that we inserted are known.
    public init(_ settings: PostgresSettings, collector: PeerID) {
        self.settings = settings
        self.collector = collector
    }

    /// Host and port, or the service.
    public static func target(_ settings: PostgresSettings) -> String {
        PostgresParameters.target(settings)
    }

    public func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        do throws(OutputFault) {
            return try connected().deliver(batch)
        } catch {
            session = nil
            throw error
        }
    }

    /// Makes the next month's table, and notices a connection that is gone.
    public func idle(_ fleet: FleetSnapshot) throws(OutputFault) {
        do throws(OutputFault) {
            try connected().idle()
        } catch {
            session = nil
            throw error
        }
    }

    public func close() { session = nil }

    private func connected() throws(OutputFault) -> PostgresSession {
        if let session { return session }
        let made = try PostgresSession(settings, collector: collector)
        session = made
        return made
    }
}
