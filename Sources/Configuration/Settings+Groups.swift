import NearbyCore
import Telemetry

/// What a collector takes of one agent.
struct QuotaSettings: Sendable {
    /// Channels of one agent that windows are kept for.
    var seriesPerAgent = 0
    /// Readings a second that are taken of one agent, 1 to 1,000,000.
    var readingsPerAgent = 0
    /// What one agent may add to the store in a day, bytes, 1 MiB to 1 TiB.
    var storePerAgent = 0
}

/// The network's secrets.
struct SecretSettings: Sendable {
    var all: [[UInt8]] = []
    var file: String?
    var isInline = false
}

/// How an agent puts readings together, and where they wait.
struct SendingSettings: Sendable {
    var reportSize = 0
    var reportWait: Duration = .zero
    var memory = 0
    var spool = 0
    var spoolAfter: Duration = .zero
}

/// What a collector makes of readings.
struct CollectingSettings: Sendable {
    var window: Duration = .zero
    var store: String?
    var keep: Duration = .zero
    var quotas = QuotaSettings()
}

extension Settings {
    /// Raw secrets, 16 bytes each; the first is used, all are accepted. Empty: none is asked for.
    public var secrets: [[UInt8]] { secret.all }
    /// Where the secrets were read from, if from a file.
    public var secretFile: String? { secret.file }
    /// Whether the secret stands in the configuration itself.
    public var hasInlineSecret: Bool { secret.isInline }
    /// Bytes, 100–900.
    public var reportSize: Int { sending.reportSize }
    /// 0 to 1 min.
    public var reportWait: Duration { sending.reportWait }
    /// What waiting readings may take in memory, bytes, 64 KiB to 256 MiB.
    public var journalMemory: Int { sending.memory }
    /// What they may take on disk, bytes; 0: nothing goes there.
    public var journalSpool: Int { sending.spool }
    /// 1 s to 1 h.
    public var spoolAfter: Duration { sending.spoolAfter }
    /// 1 s to 1 h.
    public var window: Duration { collecting.window }
    /// The collector's database; nil: nothing is stored.
    public var store: String? {
        get { collecting.store }
        set { collecting.store = newValue }
    }
    /// 1 h to 100 years.
    public var keep: Duration { collecting.keep }
    /// Channels of one agent that windows are kept for.
    public var seriesPerAgent: Int { collecting.quotas.seriesPerAgent }
    /// Readings a second that are taken of one agent, 1 to 1,000,000.
    public var readingsPerAgent: Int { collecting.quotas.readingsPerAgent }
    /// What one agent may add to the store in a day, bytes, 1 MiB to 1 TiB.
    public var storePerAgent: Int { collecting.quotas.storePerAgent }
}
