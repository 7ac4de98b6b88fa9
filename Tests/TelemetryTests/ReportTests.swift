import NearbyCore
import Testing
import VectorFile

@testable import Telemetry

@Suite struct ReportTests {
    private let golden = Report(
        birth: BirthReference(run: RunID(value: 0xaabb_ccdd_1122_3344), number: 300),
        lowestHeld: 290,
        entries: [
            .init(sequence: 300, channel: 1, milliseconds: 123_456, cell: .scaled(2153)),
            .init(sequence: 301, channel: 2, milliseconds: 123_466, cell: .null(.timeout)),
            .init(sequence: 304, channel: 1, milliseconds: 123_476, cell: .scaled(2152)),
            .init(
                sequence: 305, channel: 200, milliseconds: 123_466,
                cell: .decimal(DecimalValue(coefficient: -7, exponent: -3))),
        ])

    @Test func theGoldenReportIsReadAndWritten() throws {
        #expect(try TelemetryMessage(parsing: vector("report")) == .report(golden))
        #expect(golden.bytes == vector("report"))
    }

    @Test func everyTruncationIsRefused() {
        let bytes = vector("report")
        for count in 0..<bytes.count {
            #expect(throws: WireError.self) {
                try TelemetryMessage(parsing: Array(bytes.prefix(count)))
            }
        }
    }

    @Test func noBitFlipTraps() { surviveBitFlips(of: vector("report")) }

    @Test func anyReportIsReadAsItWasWritten() throws {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<2_000 {
            let report = Report.random(using: &generator)
            #expect(try TelemetryMessage(parsing: report.bytes) == .report(report))
        }
    }

    @Test func theLargestNumbersAreCarried() throws {
        let report = Report(
            birth: BirthReference(run: RunID(value: 1), number: .max), lowestHeld: 0,
            entries: [
                .init(sequence: 0, channel: .max, milliseconds: 0, cell: .scaled(.min)),
                .init(
                    sequence: 1, channel: .max, milliseconds: Report.Entry.millisecondsMax,
                    cell: .scaled(.max)),
                .init(sequence: .max, channel: 0, milliseconds: 0, cell: .scaled(0)),
            ])
        #expect(try TelemetryMessage(parsing: report.bytes) == .report(report))
    }

    @Test func aReportLongerThanAnUnreliableMessageIsRefused() {
        let entries = (1...2_000).map {
            Report.Entry(sequence: $0, channel: 1, milliseconds: 0, cell: .scaled(7))
        }
        let bytes = Report(
            birth: BirthReference(run: RunID(value: 1), number: 1), lowestHeld: 1, entries: entries
        ).bytes
        #expect(throws: WireError.tooLong(limit: 1_000, actual: bytes.count)) {
            try TelemetryMessage(parsing: bytes)
        }
    }

    @Test func sequencesThatWouldWrapAreRefused() {
        // A report that begins with the last number and holds two readings.
        var writer = ByteWriter()
        writer.write(UInt8(2))
        writer.write(UInt32(1))
        writer.write(UInt8(1))
        writer.writeVarint(.max)
        writer.write(contentsOf: [0, 0, 2, 0x03, 0x03])
        #expect(throws: WireError.invalid(field: "sequence")) {
            try TelemetryMessage(parsing: writer.bytes)
        }
    }

    @Test func impossibleHeadersAreRefused() {
        let refused: [([UInt8], WireError)] = [
            ([2, 0, 0, 0, 1, 1, 5, 6, 0, 1, 3], .invalid(field: "lowest held")),
            ([2, 0, 0, 0, 1, 1, 5, 0, 0, 0], .invalid(field: "reading count")),
            ([2, 0, 0, 0, 1, 1, 5, 0, 0, 9, 3], .truncated(needed: 9, available: 1)),
            ([2, 0, 0, 0, 1, 1, 5, 0, 0, 1, 0x33], .invalid(field: "time")),
            ([2, 0, 0, 0, 1, 1, 5, 0, 0, 1, 0x20, 1, 0], .invalid(field: "time")),
            ([2, 0, 0, 0, 1, 1, 5, 0, 0, 1, 0x43, 1], .invalid(field: "gap")),
        ]
        for (bytes, error) in refused {
            #expect(throws: error) { try TelemetryMessage(parsing: bytes) }
        }
    }

    @Test func fieldsOfLaterVersionsAreSkippedAndCounted() throws {
        let plain: [UInt8] = [2, 0, 0, 0, 1, 1, 5, 0, 0, 1, 0x00, 4]
        // The reading has an extension of two bytes, the message a trailing field 9 of one byte.
        let later: [UInt8] = [2, 0, 0, 0, 1, 1, 5, 0, 0, 1, 0x80, 4, 2, 7, 7, 9, 1, 0]
        var skipped = 0
        let message = try TelemetryMessage(parsing: later, skippedFields: &skipped)
        #expect(try TelemetryMessage(parsing: plain) == message)
        #expect(skipped == 2)
    }

    @Test func readingsTakeScaleFromTheBirth() throws {
        let description = try #require(ChannelDescription(name: "t", unit: .celsius, scale: -2))
        let birth = Birth(
            number: 0, run: RunID(value: 0), boot: BootID(high: 0, low: 0),
            node: try NodeDescription(name: "n"),
            channels: [Channel(number: 1, description: description)])
        let (readings, unknown) = golden.readings(using: birth)
        #expect(readings.map { $0.outcome.value?.description } == ["21.53", "21.52"])
        #expect(readings.map(\.sequence) == [300, 304])
        #expect(readings.first?.time == Instant(nanoseconds: 123_456_000_000))
        #expect(unknown == 2)
    }

    /// `85.000` on a channel of whole numbers, `21.5` on one of hundredths.
    @Test func noDigitIsLostInAChannelsScale() throws {
        for (text, scale, shown) in [
            ("85.000", 0, "85.000"), ("85", 0, "85"), ("21.53", -1, "21.53"),
            ("21.50", -1, "21.50"), ("21.5", -2, "21.50"), ("0.000", -2, "0.000"),
            ("9223372036854775807", -2, "9223372036854775807"),
        ] as [(String, Int8, String)] {
            let value = try DecimalValue(parsing: text)
            let reading = Reading(sequence: 1, channel: 1, time: .zero, outcome: .value(value))
            let report = Report(
                birth: BirthReference(run: RunID(value: 0), number: 1), lowestHeld: 1,
                entries: [Report.Entry(reading, scale: scale)])
            guard case .report(let read) = try TelemetryMessage(parsing: report.bytes) else {
                Issue.record("no report")
                continue
            }
            let birth = Birth(
                number: 1, run: RunID(value: 0), boot: BootID(high: 0, low: 0),
                node: try NodeDescription(name: "n"),
                channels: [
                    Channel(
                        number: 1,
                        description: try #require(ChannelDescription(name: "t", scale: scale)))
                ])
            let readings = read.readings(using: birth).readings
            #expect(readings.first?.outcome.value?.description == shown)
        }
    }

    @Test func randomBytesNeverTrap() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<64, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if !bytes.isEmpty { bytes[0] = UInt8.random(in: 0...6, using: &generator) }
            survive(bytes)
        }
    }

    /// Numbers within the array of integers, at its end, beyond it, and the largest, over and over.
    @Test func integersOfAnyChannelsComeBack() throws {
        let channels: [UInt16] = [1, 15, 16, 17, 127, 128, 129, 1_024, .max, 2]
        var entries: [Report.Entry] = []
        for index in 0..<40 {
            let integer = Int64(index / 20) * 1_000 - Int64(index % 10)
            entries.append(
                Report.Entry(
                    sequence: UInt64(index + 1), channel: channels[index % 10], milliseconds: 5,
                    cell: .scaled(integer)))
        }
        let report = Report(
            birth: BirthReference(run: RunID(value: 1), number: 1), lowestHeld: 1,
            entries: entries)
        guard case .report(let back) = try TelemetryMessage(parsing: report.bytes) else {
            Issue.record("no report")
            return
        }
        #expect(back.entries == entries)
        // What is said again takes its control byte alone, and a number where it is not the next.
        #expect(report.bytes.count < 300)
    }

    /// An entry that does not fit leaves no trace in what follows.
    @Test func whatDoesNotFitIsForgotten() throws {
        var encoder = ReportEncoder()
        let entry = { (sequence: UInt64, value: Int64) -> Report.Entry in
            Report.Entry(sequence: sequence, channel: 3, milliseconds: 9, cell: .scaled(value))
        }
        var taken: [Bool] = []
        taken.append(encoder.append(entry(1, 7), bytesMax: 100))
        taken.append(encoder.append(entry(2, .max), bytesMax: 20))
        taken.append(encoder.append(entry(2, 7), bytesMax: 100))
        #expect(taken == [true, false, true])
        let reference = BirthReference(run: RunID(value: 1), number: 1)
        let bytes = encoder.bytes(birth: reference, lowestHeld: 1)
        guard case .report(let back) = try TelemetryMessage(parsing: bytes) else {
            Issue.record("no report")
            return
        }
        #expect(back.entries == [entry(1, 7), entry(2, 7)])
    }
}

/// Parses and uses what comes of it.
func survive(_ bytes: [UInt8]) {
    guard let message = try? TelemetryMessage(parsing: bytes) else { return }
    let written = message.bytes
    #expect((try? TelemetryMessage(parsing: written)) == message)
}

func surviveBitFlips(of bytes: [UInt8]) {
    for index in bytes.indices {
        for bit in 0..<8 {
            var flipped = bytes
            flipped[index] ^= 1 << UInt8(bit)
            survive(flipped)
        }
    }
}

extension Report {
    static func random(using generator: inout SeededGenerator) -> Report {
        var entries: [Entry] = []
        var sequence = UInt64.random(in: 0...100_000, using: &generator)
        let lowest = UInt64.random(in: 0...sequence, using: &generator)
        for _ in 0..<Int.random(in: 1...50, using: &generator) {
            let cell: Cell
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: cell = .null(NullReason(rawValue: UInt8.random(in: 0...255, using: &generator)))
            case 1: cell = .decimal(.random(using: &generator))
            default: cell = .scaled(DecimalValue.random(using: &generator).coefficient)
            }
            entries.append(
                Entry(
                    sequence: sequence,
                    channel: UInt16.random(
                        in: 0...(Bool.random(using: &generator) ? 4 : .max), using: &generator),
                    milliseconds: Int64.random(in: 0...1_000, using: &generator), cell: cell))
            sequence += UInt64.random(in: 1...3, using: &generator)
        }
        return Report(
            birth: BirthReference(
                run: RunID(value: generator.next()),
                number: UInt16.random(in: 0...(.max), using: &generator)), lowestHeld: lowest,
            entries: entries)
    }
}
