import NearbyCore

@testable import Telemetry

/// Readings for the tests of the journals.
enum JournalFixture {
    static let run = RunID(value: 9)

    static func entry(_ sequence: UInt64, _ generator: inout SeededGenerator) -> Report.Entry {
        Report.Entry(
            sequence: sequence, channel: UInt16.random(in: 1...5, using: &generator),
            milliseconds: Int64(sequence) * 10,
            cell: .scaled(Int64.random(in: -99_999...99_999, using: &generator)))
    }

    /// A block of these readings, as it lies on disk.
    static func block(_ range: Range<UInt64>, _ generator: inout SeededGenerator) -> [UInt8] {
        var encoder = ReportEncoder()
        for sequence in range {
            _ = encoder.append(entry(sequence, &generator), bytesMax: .max)
        }
        return encoder.bytes(
            birth: BirthReference(run: run, number: 0), lowestHeld: range.lowerBound)
    }

    static func sequences(_ report: ReportEncoder) throws -> [UInt64] {
        let bytes = report.bytes(
            birth: BirthReference(run: run, number: 1), lowestHeld: report.firstSequence)
        guard case .report(let parsed) = try TelemetryMessage(parsing: bytes) else { return [] }
        return parsed.entries.map(\.sequence)
    }

    static func at(_ milliseconds: UInt64) -> Instant {
        Instant(nanoseconds: Int64(milliseconds) * 1_000_000)
    }
}
