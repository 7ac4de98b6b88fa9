import NearbyCore

/// How well a clock is known to show UTC, best last. Codes of later versions count as `none`.
public enum ClockRank: UInt8, Comparable, CaseIterable, Sendable {
    /// Set by nobody that can be trusted.
    case none = 0
    /// Read from a battery-backed clock.
    case hardware = 1
    /// Synchronized over the network, as adjtimex(2) says.
    case network = 2
    /// Synchronized to satellites.
    case satellite = 3

    public static func < (left: ClockRank, right: ClockRank) -> Bool {
        left.rawValue < right.rawValue
    }

    public var name: String {
        switch self {
        case .none: "estimate"
        case .hardware: "hardware"
        case .network: "network"
        case .satellite: "satellite"
        }
    }
}

/// A reading of a node's clock against UTC.
public struct ClockReading: Equatable, Sendable {
    public var rank: ClockRank
    /// Add this to the node's CLOCK_BOOTTIME to have the time since 1970-01-01T00:00:00Z.
    public var unixOffset: Duration

    public init(rank: ClockRank, unixOffset: Duration) {
        self.rank = rank
        self.unixOffset = unixOffset
    }

    /// What to add, where a time service keeps the clock.
    public var vouchedOffset: Duration? { rank >= .network ? unixOffset : nil }

    /// rank 1 · unix offset 8, nanoseconds, signed
    init(parsing reader: inout ByteReader) throws(WireError) {
        rank = ClockRank(rawValue: try reader.readUInt8()) ?? .none
        unixOffset = .nanoseconds(Int64(bitPattern: try reader.readUInt64()))
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(rank.rawValue)
        writer.write(UInt64(bitPattern: unixOffset.nanoseconds))
    }
}

/// The four-timestamp exchange (RFC 5905 §8) between a collector, which asks, and an agent. Times
/// are nanoseconds of CLOCK_BOOTTIME, the collector's or the agent's. Unreliable: a lost one is
/// followed by the next.
///
///     0x05 · kind 1 · t1 8 · [answer only: t2 8 · t3 8 · boot id 16 · rank 1 · unix offset 8] ·
///     trailing fields
///     kind         0 request, 1 answer
///     t1           when the collector asked
///     t2, t3       when the agent got it, and when it answered
///     unix offset  nanoseconds, signed
public enum TimeExchange: Equatable, Sendable {
    case request(asked: Instant)
    case answer(TimeAnswer)

    init(parsing reader: inout ByteReader, skippedFields: inout Int) throws(WireError) {
        let kind = try reader.readUInt8()
        let asked = try Self.readInstant(from: &reader)
        switch kind {
        case 0: self = .request(asked: asked)
        case 1:
            let received = try Self.readInstant(from: &reader)
            let answered = try Self.readInstant(from: &reader)
            guard answered >= received else { throw .invalid(field: "time of answer") }
            let boot = BootID(high: try reader.readUInt64(), low: try reader.readUInt64())
            self = .answer(
                TimeAnswer(
                    asked: asked, received: received, answered: answered, boot: boot,
                    clock: try ClockReading(parsing: &reader)))
        default: throw .invalid(field: "kind of time exchange")
        }
        while try TrailingField(parsing: &reader) != nil { skippedFields += 1 }
    }

    func emit(into writer: inout ByteWriter) {
        switch self {
        case .request(let asked):
            writer.write(0 as UInt8)
            writer.write(UInt64(bitPattern: asked.nanoseconds))
        case .answer(let answer):
            writer.write(1 as UInt8)
            for time in [answer.asked, answer.received, answer.answered] {
                writer.write(UInt64(bitPattern: time.nanoseconds))
            }
            writer.write(answer.boot.high)
            writer.write(answer.boot.low)
            answer.clock.emit(into: &writer)
        }
    }

    /// Times before the boot do not exist.
    private static func readInstant(from reader: inout ByteReader) throws(WireError) -> Instant {
        guard let nanoseconds = Int64(exactly: try reader.readUInt64()) else {
            throw .invalid(field: "time")
        }
        return Instant(nanoseconds: nanoseconds)
    }
}

/// An agent's answer to a time request.
public struct TimeAnswer: Equatable, Sendable {
    /// The collector's clock.
    public var asked: Instant
    /// The agent's clock; `answered` is not before `received`.
    public var received: Instant
    public var answered: Instant
    public var boot: BootID
    /// What the agent itself knows of UTC.
    public var clock: ClockReading

    public init(
        asked: Instant, received: Instant, answered: Instant, boot: BootID, clock: ClockReading
    ) {
        self.asked = asked
        self.received = received
        self.answered = answered
        self.boot = boot
        self.clock = clock
    }
}
