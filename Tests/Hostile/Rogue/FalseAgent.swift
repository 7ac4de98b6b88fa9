import NearbyCore
import NearbyEngine
import Telemetry

/// What an agent says of its readings and its clock, as false as is wanted.
struct FalseAgent {
    var run: RunID
    var name: String
    var boot = BootID(high: randomNumber(), low: randomNumber())
    /// Its clock less ours.
    var ahead = Duration.zero
    var rank = ClockRank.none
    /// What it says that UTC is now, seconds since 1970; nil: it knows nothing.
    var unixSeconds: Int64?
    /// Of the next reading.
    var sequence: UInt64 = 1

    init(run: RunID, name: String) {
        self.run = run
        self.name = name
    }

    /// `ahead=` and `unix=` in seconds, `rank=` 0 to 3.
    init(run: RunID, _ options: Options) throws(RogueError) {
        self.init(run: run, name: options.text("name", or: "rogue"))
        ahead = .seconds(try options.number("ahead", or: 0))
        rank = ClockRank(rawValue: UInt8(clamping: try options.number("rank", or: 0))) ?? .none
        let unix = try options.number("unix", or: -1)
        unixSeconds = unix < 0 ? nil : unix
    }

    func clock(_ now: Instant) -> Instant { now + ahead }

    func reading(of now: Instant) -> ClockReading {
        let utc = Duration.seconds(unixSeconds ?? 0) - (clock(now) - .zero)
        return ClockReading(rank: rank, unixOffset: unixSeconds == nil ? .zero : utc)
    }

    // MARK: Messages

    func birth(number: UInt16 = 1, channels: [Channel], _ now: Instant) throws -> [UInt8] {
        let birth = Birth(
            number: number, run: run, boot: boot, node: try NodeDescription(name: name),
            channels: channels, sent: clock(now), clock: reading(of: now))
        return TelemetryMessage.birth(birth).bytes
    }

    /// - Parameters:
    ///   - count: at most 900 readings of one byte each fit a message.
    ///   - age: how long ago they were measured.
    mutating func report(
        count: Int, channel: UInt16 = 1, age: Duration = .zero, _ now: Instant
    ) -> [UInt8] {
        let milliseconds = max(0, (clock(now) - age).nanoseconds / 1_000_000)
        let entries = (0..<UInt64(count)).map {
            Report.Entry(
                sequence: sequence + $0, channel: channel, milliseconds: milliseconds,
                cell: .scaled(21))
        }
        defer { sequence += UInt64(count) }
        return Report(
            birth: BirthReference(run: run, number: 1), lowestHeld: sequence, entries: entries
        ).bytes
    }

    /// One reading of each of so many channels.
    mutating func report(channels: ClosedRange<UInt16>, _ now: Instant) -> [UInt8] {
        let milliseconds = clock(now).nanoseconds / 1_000_000
        let entries = channels.enumerated().map { offset, channel in
            Report.Entry(
                sequence: sequence + UInt64(offset), channel: channel, milliseconds: milliseconds,
                cell: .scaled(21))
        }
        defer { sequence += UInt64(entries.count) }
        return Report(
            birth: BirthReference(run: run, number: 1), lowestHeld: sequence, entries: entries
        ).bytes
    }

    /// The answer to a collector's time request; nil for any other message.
    func answer(to message: [UInt8], _ now: Instant) -> [UInt8]? {
        guard case .timeExchange(.request(let asked))? = try? TelemetryMessage(parsing: message)
        else { return nil }
        let time = clock(now)
        let answer = TimeAnswer(
            asked: asked, received: time, answered: time, boot: boot, clock: reading(of: now))
        return TelemetryMessage.timeExchange(.answer(answer)).bytes
    }

    /// Channels with names so long that a thousand of them make a large birth.
    static func channels(_ count: Int, name: String = "ch", unit: Unit = .celsius) -> [Channel] {
        (1...count).compactMap { number in
            ChannelDescription(name: "\(name)-\(number)", unit: unit).map {
                Channel(number: UInt16(number), description: $0)
            }
        }
    }
}
