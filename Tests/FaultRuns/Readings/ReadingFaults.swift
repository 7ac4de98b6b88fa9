import NearbyCore
import NearbySimulator

/// What goes wrong with disks and stores. As with `Faults`, a seed switches whole classes off.
public struct ReadingFaults: Sendable {
    /// Of a hundred batches.
    public var refusalPercent = 0
    public var diskFailurePercent = 0
    /// Of a hundred blocks that are read.
    public var damagePercent = 0
    /// How long a batch takes.
    public var delay = Duration.milliseconds(1)..<Duration.milliseconds(30)
    /// Journals and spools so small that readings have to go.
    public var hasLittleMemory = false
    public var hasLittleDisk = false
    /// An agent that starts again and again while no collector is there.
    public var restarts = 0
    /// An agent says that satellites tell it a date of 2024, and shows other agents' boots as its
    /// own.
    public var hasLyingClock = false

    public init() {}

    public static func swarm(_ generator: inout SeededGenerator) -> ReadingFaults {
        var faults = ReadingFaults()
        func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &generator) == 0 }
        if chance(2) { faults.refusalPercent = Int.random(in: 5...40, using: &generator) }
        if chance(3) { faults.diskFailurePercent = Int.random(in: 5...30, using: &generator) }
        if chance(6) { faults.damagePercent = Int.random(in: 1...20, using: &generator) }
        if chance(2) { faults.delay = .milliseconds(1)..<Duration.seconds(2) }
        faults.hasLittleMemory = chance(4)
        faults.hasLittleDisk = chance(5)
        if chance(8) { faults.restarts = Int.random(in: 3...24, using: &generator) }
        faults.hasLyingClock = chance(3)
        return faults
    }
}

/// How one agent measures and keeps.
struct AgentSettings {
    var interval: Duration
    var channelCount: Int
    var memoryBytesMax: Int
    /// nil: there is no spool.
    var spoolAfter: Duration?
    var spoolBytesMax: Int
    var wait: Duration
    var liesAboutItsClock = false
    var faults: ReadingFaults

    init(_ faults: ReadingFaults, _ random: inout SeededGenerator) {
        self.faults = faults
        interval = .milliseconds(Int.random(in: 200...1_000, using: &random))
        channelCount = Int.random(in: 1...4, using: &random)
        memoryBytesMax =
            faults.hasLittleMemory ? Int.random(in: 300...2_000, using: &random) : 1 << 20
        spoolAfter = .milliseconds(Int.random(in: 500...6_000, using: &random))
        if Int.random(in: 0..<5, using: &random) == 0 { spoolAfter = nil }
        spoolBytesMax = faults.hasLittleDisk ? Int.random(in: 500...3_000, using: &random) : 1 << 20
        wait = Int.random(in: 0..<4, using: &random) == 0 ? .zero : .milliseconds(250)
    }

    /// Whether whatever is on disk is there until it is settled.
    var isDiskReliable: Bool {
        faults.diskFailurePercent == 0 && faults.damagePercent == 0 && !faults.hasLittleDisk
    }
}

/// What became of the readings of a run.
public struct ReadingCounts: Equatable, Sendable {
    public var measured: UInt64 = 0
    public var stored: UInt64 = 0
    /// In memory only when their agent crashed, and not in a store then.
    public var lostWithPower: UInt64 = 0
    /// Given up by a journal that was full, or on disk and not readable.
    public var givenUp: UInt64 = 0
    /// Handed to a store that had them, as may be before it is open.
    public var repeated: UInt64 = 0
}
