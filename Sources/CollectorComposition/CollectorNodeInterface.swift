import Collector
import NearbyCore
import NearbyEngine
import Telemetry

extension CollectorNode {
    public struct Settings: Sendable {
        /// Whether there is a store, and receipts are given; otherwise it is a viewer.
        public var isDurable: Bool
        /// Our own.
        public var boot: BootID
        /// What each agent may bring, if there is a store.
        public var quotas = CollectorQuotas()
        /// The only agents whose clocks ours may follow; empty: all.
        public var clockSources: Set<PeerID> = []
        public var windows = WindowAggregator.Settings()
        /// For the choice of values that stand for many.
        public var seed: UInt64

        public init(isDurable: Bool, boot: BootID, seed: UInt64) {
            self.isDurable = isDurable
            self.boot = boot
            self.seed = seed
        }
    }

    public enum Input: Sendable {
        /// The process has begun: what the store holds is wanted.
        case start
        /// What came over the network, and what became of its links: one batch, so that answers for
        /// one neighbour leave together.
        case network([Node.Input])
        /// What this machine knows of UTC: at the start, once a minute, and when it was set.
        case clock(ClockReading)
        /// What came of a job of the store.
        case store(StoreResult)
        /// The process ends: the last windows close, nothing more is taken, and what waits goes to
        /// the store until `isSettled`.
        case finish
        case deadlineReached
    }

    /// In the order in which it happened.
    public enum Output: Sendable {
        /// To be sent; or for who looks on, once all parts have taken it.
        case node(Node.Output)
        /// One job after another, in their order.
        case store(StoreJob)
        case event(Event)
    }

    public enum StoreJob: Equatable, Sendable {
        /// `.opened` or `.refused` follows.
        case open
        /// To be written in one transaction; `.committed` or `.refused` follows. The clock is that
        /// of this machine, by which the store tidies up.
        case commit(StoreBatch, clock: ClockReading)
        /// Compute windows, and delete what is too old; no answer follows.
        case tidy(clock: ClockReading)
    }

    public enum StoreResult: Sendable {
        case opened([StoredRun], [ClockMapping], diagnostics: [String])
        /// Without these parts; and what the disk has left, bytes, if it can be known.
        case committed(without: [StoreBatch.Refusal], freeBytes: Int?)
        /// Nothing of the batch is durable, for this reason.
        case refused(String)
    }

    public enum Event: Equatable, Sendable {
        case accepted(Delivery)
        /// A birth that is new to us.
        case born(PeerID, Birth)
        case window(Window)
        /// The agent has more channels than windows are kept for; once, until it is forgotten.
        case windowsFull(PeerID, NodeDescription)
        case diagnostic(CollectorDiagnostic)
        /// A message of the collector's is on its way.
        case said([UInt8], to: PeerID)
        case dropped(DropReason, count: Int)
        /// Nothing is committed, for this reason; once, until it is another.
        case storeFailed(String)
        case storeWorks
        /// What was found when the store was opened.
        case storeDiagnostic(String)
    }
}
