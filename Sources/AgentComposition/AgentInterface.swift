import NearbyCore
import NearbyEngine
import Sampling
import Telemetry

extension Agent {
    public enum Input: Sendable {
        /// The process has begun: what the spool holds is wanted.
        case start
        /// What came over the network, and what became of its links: one batch, so that answers for
        /// one neighbour leave together.
        case network([Node.Input])
        /// These sensors from now on, instead of those so far. All are read at once.
        case configure([SensorPlan])
        /// What a sensor gave when `.sample` asked it, and when it came back; of an earlier
        /// generation it is too late.
        case measured(Int, generation: Int, [Measurement], at: Instant)
        /// Nobody was free to ask the sensor: it has its turn again after its period.
        case notAsked(Int)
        /// What a sensor gave by itself.
        case reported(Int, [Measurement])
        /// What this machine knows of UTC: at the start, once a minute, and when it was set.
        case clock(ClockReading)
        /// What came of a job of the spool.
        case spool(SpoolAnswer)
        /// The process ends: sensors rest, and what no receipt has settled goes to the spool.
        case finish
        case deadlineReached
    }

    /// In the order in which it happened.
    public enum Output: Sendable {
        /// To be sent; or for who looks on, once all parts have taken it.
        case node(Node.Output)
        /// Ask this sensor for its measurements; `.measured` or `.notAsked` follows.
        case sample(Int, generation: Int)
        /// One job after another, in their order; an answer follows each.
        case spool(SpoolJob)
        case event(Event)
    }

    /// A sensor as its agent knows it.
    public struct SensorPlan: Sendable {
        /// For people: what its one channel is called before it has given any.
        public var name: String
        public var period: Duration
        public var shape: ChannelShape
        /// Of channels that have one of their own, by the driver's name for them.
        public var channelShapes: [String: ChannelShape]
        /// It also speaks by itself: what it gives is some of its channels, not all.
        public var givesParts: Bool

        public init(
            _ name: String, period: Duration, shape: ChannelShape = ChannelShape(),
            channelShapes: [String: ChannelShape] = [:], givesParts: Bool = false
        ) {
            self.name = name
            self.period = period
            self.shape = shape
            self.channelShapes = channelShapes
            self.givesParts = givesParts
        }
    }

    /// What the journal wants of its part on disk.
    public enum SpoolJob: Equatable, Sendable {
        case open
        /// The birth of the present run (a birth message), and blocks of it.
        case append(birth: [UInt8], [SpoolBlock])
        case fetch(RunRange, SpoolPlace)
        /// These numbers need not be kept any more.
        case forget(RunID, NumberRanges)
        /// The run ends in order, with this number.
        case end(lastSequence: UInt64)
    }

    public enum SpoolAnswer: Sendable {
        /// What earlier runs left, and the last of them; ahead of the answer to the job that had it
        /// opened.
        case opened([SpooledRun], PreviousRun?, diagnostics: [String])
        /// The batch is durable; blocks of these stretches had to go for it.
        case appended([(range: Range<UInt64>, place: SpoolPlace)], evicted: [RunRange])
        /// nil: it could not be read.
        case fetched(RunRange, [UInt8]?)
        case done
        case failed(SpoolJob, String)
    }

    public enum Event: Equatable, Sendable {
        /// It has this number in the run, and is in the journal.
        case reading(UInt64, Sample)
        /// A message of the telemeter's is on its way.
        case said([UInt8], to: PeerID)
        case sensorFailed(Int)
        case sensorRecovered(Int)
        /// A channel cannot be given in the unit that was asked for; once for each.
        case unitRefused(Int, Sampler.RefusedUnit)
        /// Readings wait in memory only, for this reason; once, until it is another.
        case spoolFailed(String)
        case spoolWorks
        /// What was found when the spool was opened.
        case spoolDiagnostic(String)
    }
}
