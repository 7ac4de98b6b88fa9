import NearbyCore
import Outputs

/// Puts a batch for an output together.
struct BatchBuilder {
    /// What the readings of a run need to become those of a batch.
    struct Source {
        /// The run's number in the store.
        var id: Int64
        var run: OutputRuns.Run
        var layout: Stretches
    }

    private struct Key: Hashable {
        var run: Int64
        var channel: UInt16
    }

    private(set) var batch = OutputBatch()
    private let limit: Int
    private var indexes: [Key: Int] = [:]
    private var maps: [OutputRuns.KnownSeries] = []
    /// Rows that came, those of unknown channels included.
    private var rowCount = 0
    private var isBegun = false

    init(limit: Int) { self.limit = max(1, limit) }

    /// How many readings fit.
    var room: Int { limit - rowCount }

    var isEmpty: Bool { batch.isEmpty }

    /// Whether readings of this kind may come next: all of a batch are of one. The first decides.
    mutating func accepts(isHistorical: Bool, isCorrection: Bool) -> Bool {
        if isBegun, !batch.isEmpty {
            return batch.isHistorical == isHistorical && batch.isCorrection == isCorrection
        }
        isBegun = true
        batch.isHistorical = isHistorical
        batch.isCorrection = isCorrection
        return true
    }

    /// What comes was in the store before the output.
    mutating func markFromBefore() { batch.isFromBefore = true }

    mutating func add(_ redating: OutputRedating) { batch.redatings.append(redating) }

    mutating func add(_ rows: [StoredRow], of source: Source, _ runs: inout OutputRuns) {
        rowCount += rows.count
        for row in rows {
            guard let index = index(of: row.reading.channel, source, &runs) else { continue }
            batch.readings.append(
                OutputReading(
                    series: index, sequence: UInt64(row.reading.sequence),
                    milliseconds: row.reading.milliseconds,
                    utc: source.layout.utc(row.reading.milliseconds),
                    outcome: maps[index].map(row.reading.outcome), hops: row.hops))
        }
    }

    private mutating func index(
        of channel: UInt16, _ source: Source, _ runs: inout OutputRuns
    ) -> Int? {
        let key = Key(run: source.id, channel: channel)
        if let known = indexes[key] { return known }
        guard let series = runs.series(channel, of: source.run, source.id) else { return nil }
        indexes[key] = batch.series.count
        batch.series.append(series.series)
        maps.append(series)
        return batch.series.count - 1
    }
}
