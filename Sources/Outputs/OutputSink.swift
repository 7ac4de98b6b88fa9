import Fleet

/// A server, file or command that readings go to: the blocking side of an output, on a thread of
/// its own.
///
/// Delivery is at least once: a batch that failed, or whose success a crash forgot, comes again,
/// perhaps cut differently. The keys make it exactly once on the other side.
public protocol OutputSink: AnyObject {
    /// Returns when the other side has the batch safe. Connects if it is not connected. May block
    /// for as long as its own time limit (10 s unless configured).
    func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt

    /// Called about once a second while nothing waits, and after each batch: keep connections, take
    /// commands, say who is there. `fleet` is how the network looked within the last seconds.
    func idle(_ fleet: FleetSnapshot) throws(OutputFault)

    /// Says goodbye where that is due, and frees everything. Nothing is called afterwards but
    /// `estate`.
    func close()

    /// What one that takes its place is to know of what it delivered.
    var estate: OutputEstate? { get }

    /// Called before anything else where there is something.
    func inherit(_ estate: OutputEstate)
}

extension OutputSink {
    public var estate: OutputEstate? { nil }

    public func inherit(_ estate: OutputEstate) {}
}

/// What a sink leaves to the one that takes its place, for instance with other words.
public enum OutputEstate: Sendable {
    case series(SeriesLedger, target: String)
}

/// What became of a batch that was delivered.
public struct OutputReceipt: Hashable, Sendable {
    /// Readings that the other side will never take, whatever is tried: skipped and counted.
    public var refusedCount = 0
    /// Why, in the other side's words as far as they are printable; of the first.
    public var refusal: String?
    /// What its operator should know, such as that two nodes share a name; each is logged.
    public var remarks: [String] = []

    public init() {}

    public init(refusedCount: Int, refusal: String?) {
        self.refusedCount = refusedCount
        self.refusal = refusal
    }
}

/// Why nothing could be delivered. It is tried again, with growing intervals; the text is logged
/// once until it is another.
public struct OutputFault: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// Not there, or not answering: it will pass.
        case unavailable
        /// It answers, and does not let us in: password, certificate, right, missing database.
        case refused
        /// What is there cannot be used: the schema of a newer version, a topic of others.
        case unsuitable
    }

    public var kind: Kind
    /// What happened, where (host, port, table, file), and what to do. No secret in it.
    public var description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
