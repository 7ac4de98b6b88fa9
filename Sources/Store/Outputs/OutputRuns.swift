import Collector
import Fleet
import NearbyCore
import Outputs
import Telemetry

/// What outputs are told of runs and their channels, in the collector's words. Remembered until the
/// agent says something else.
struct OutputRuns {
    struct Run {
        var node: OutputNode
        var boot: BootID
        /// In ascending order.
        var channels: [Int64]
        /// As the store has it.
        fileprivate var birth: Birth
        fileprivate var birthBytes: [UInt8]
        fileprivate var series: [UInt16: KnownSeries] = [:]
    }

    struct KnownSeries {
        var series: OutputSeries
        var map: ValueMap
    }

    /// Beyond, all are forgotten, and looked up again.
    static let runsMax = 4_096

    private let words: FleetWords
    private let selectRun: Statement
    private let clocks: ClockTable
    private var runs: [Int64: Run] = [:]

    init(_ database: Database, _ words: FleetWords) throws(StoreError) {
        self.words = words
        clocks = try ClockTable(database)
        selectRun = try database.prepare(
            """
            SELECT peers.peer, runs.run, runs.boot, runs.birth
            FROM runs JOIN peers ON peers.id = runs.peer_id WHERE runs.id = ?1
            """)
    }

    /// Nil for a run that is gone, or that cannot be read.
    mutating func run(_ id: Int64) throws(StoreError) -> Run? {
        selectRun.bind(1, id)
        guard try selectRun.step() else { return nil }
        defer { selectRun.reset() }
        let bytes = selectRun.bytes(3)
        guard let boot = BootID(stored: selectRun.bytes(2)) else { return nil }
        if var known = runs[id], known.birthBytes == bytes {
            known.boot = boot
            return known
        }
        guard let peer = PeerID(bytes: selectRun.bytes(0)),
            let run = RunID(stored: selectRun.bytes(1)),
            case .birth(let birth)? = try? TelemetryMessage(parsing: bytes)
        else { return nil }
        let (name, labels) = (birth.node.name, birth.node.labels)
        let node = OutputNode(
            peer: peer, run: run, name: words.name(of: peer, named: name),
            labels: words.labels(of: peer, named: name, labels), board: birth.node.board)
        let found = Run(
            node: node, boot: boot, channels: birth.channels.map { Int64($0.number) },
            birth: birth, birthBytes: bytes)
        if runs.count >= Self.runsMax { runs = [:] }
        runs[id] = found
        return found
    }

    /// How the readings of a boot are dated for outputs; nil while nothing is known of its clock.
    func layout(of boot: BootID) throws(StoreError) -> Stretches? { try clocks.layout(of: boot) }

    /// Nil for a channel that the run's birth does not list.
    mutating func series(_ number: UInt16, of run: Run, _ id: Int64) -> KnownSeries? {
        if let known = runs[id]?.series[number] { return known }
        guard let channel = run.birth.channel(number) else { return nil }
        let shown = words.channel(
            of: run.node.peer, named: run.birth.node.name, channel.name, channel.unit,
            scale: channel.scale)
        let series = KnownSeries(
            series: OutputSeries(
                node: run.node, number: number, channel: shown.name, unit: shown.unit,
                scale: shown.scale),
            map: shown.map)
        runs[id]?.series[number] = series
        return series
    }
}
