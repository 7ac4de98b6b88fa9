import NearbyCore
import Telemetry

@testable import Outputs

/// What tests deliver.
enum Batches {
    static let peer = PeerID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)
    static let run = RunID(value: 0xabc)

    static func series(
        _ channel: String = "temperature", unit: Unit = .celsius, node: String = "shed",
        labels: [Label] = [], run: RunID = run
    ) -> OutputSeries {
        OutputSeries(
            node: OutputNode(peer: peer, run: run, name: node, labels: labels, board: ""),
            number: 1, channel: channel, unit: unit, scale: 0)
    }

    static func reading(
        _ sequence: UInt64, utc: Int64 = 1_700_000_000_123_456_789, series: Int = 0,
        _ outcome: Outcome = .value(DecimalValue(coefficient: 2_150, exponent: -2))
    ) -> OutputReading {
        OutputReading(
            series: series, sequence: sequence, milliseconds: 5, utc: utc, outcome: outcome,
            hops: 2)
    }

    static func batch(_ series: [OutputSeries], _ readings: [OutputReading]) -> OutputBatch {
        var batch = OutputBatch()
        batch.series = series
        batch.readings = readings
        return batch
    }
}
