import NearbyCore
import Spool
import Telemetry
import Testing
import VectorFile

@testable import Store

@Suite struct ReadingBlockTests {
    private func row(
        _ sequence: Int64, at milliseconds: Int64, _ outcome: Outcome, hops: UInt8 = 1
    ) throws -> StoredRow {
        let reading = Reading(
            sequence: UInt64(sequence), channel: 7, time: Fixture.at(milliseconds),
            outcome: outcome)
        return StoredRow(reading: try #require(ReadingRow(reading)), hops: hops)
    }

    /// Everything that a block can say.
    private func golden() throws -> [StoredRow] {
        let value = { Outcome.value(DecimalValue(coefficient: $0, exponent: $1)) }
        return [
            try row(10, at: 5_000, value(2_150, -2)), try row(60, at: 6_000, value(2_151, -2)),
            try row(110, at: 7_000, value(2_151, -2)),
            try row(160, at: 8_003, .null(.timeout), hops: 3),
            try row(211, at: 8_003, value(-4, 1), hops: 3),
            try row(260, at: 9_000, value(2_149, -2), hops: 2),
        ]
    }

    @Test func theGoldenBlockIsReadAndWritten() throws {
        let rows = try golden()
        #expect(try ReadingBlock.rows(parsing: vector("block"), channel: 7) == rows)
        let blocks = ReadingBlock.blocks(of: rows)
        #expect(blocks.map(\.bytes) == [vector("block")])
        let header = try #require(blocks.first?.header)
        #expect(header.sequences == 10...260)
        #expect(header.milliseconds == 5_000...9_000)
        #expect(header.count == 6)
        #expect(header.describes(rows))
        #expect(!header.describes(Array(rows.dropLast())))
    }

    @Test func everyTruncationIsRefused() {
        let bytes = vector("block")
        for count in 0..<bytes.count {
            #expect(throws: WireError.self) {
                try ReadingBlock.rows(parsing: Array(bytes.prefix(count)), channel: 7)
            }
            // With a right checksum, so that the parser sees it.
            guard count > 4 else { continue }
            #expect(throws: WireError.self) {
                try ReadingBlock.rows(
                    parsing: Self.sealed(bytes.prefix(count - 4)), channel: 7)
            }
        }
    }

    @Test func everyFlippedBitIsFound() {
        let bytes = vector("block")
        for bit in 0..<bytes.count * 8 {
            var other = bytes
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: WireError.self) { try ReadingBlock.rows(parsing: other, channel: 7) }
            // What a forger seals is read or refused, and never traps.
            let forged = Self.sealed(other.dropLast(4))
            if let rows = try? ReadingBlock.rows(parsing: forged, channel: 7) {
                #expect(BlockHeader(rows)?.describes(rows) == true)
            }
        }
    }

    @Test func anotherChannelsBlockIsRefused() {
        #expect(throws: WireError.invalid(field: "channel")) {
            try ReadingBlock.rows(parsing: vector("block"), channel: 8)
        }
    }

    @Test func whateverGoesInComesOut() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            var (sequence, time) = (Int64(1), Int64(0))
            var rows: [StoredRow] = []
            for _ in 0..<Int.random(in: 1...3_000, using: &generator) {
                let isFar = UInt16.random(in: 0..<400, using: &generator) == 0
                sequence += Int64.random(in: 1...(isFar ? 1 << 40 : 60), using: &generator)
                let steps: ClosedRange<Int64> = isFar ? -1 << 30...1 << 30 : 0...9
                time = max(0, time + Int64.random(in: steps, using: &generator))
                let wide = UInt8.random(in: 0..<9, using: &generator) == 0
                let coefficient = Int64.random(
                    in: wide ? .min ... .max : -500...500, using: &generator)
                let outcome: Outcome =
                    UInt8.random(in: 0..<20, using: &generator) == 0
                    ? .null(NullReason(rawValue: .random(in: 0...255, using: &generator)))
                    : .value(
                        DecimalValue(
                            coefficient: coefficient,
                            exponent: wide ? .random(in: .min ... .max, using: &generator) : -2))
                rows.append(
                    try row(
                        sequence, at: time, outcome,
                        hops: isFar ? .random(in: 0...9, using: &generator) : 1))
            }
            let blocks = ReadingBlock.blocks(of: rows.shuffled(using: &generator))
            var found: [StoredRow] = []
            for block in blocks {
                let own = try ReadingBlock.rows(parsing: block.bytes, channel: 7)
                #expect(block.header.describes(own))
                #expect(block.bytes.count <= Limits.blockBytesMax)
                let span = block.header.sequences.upperBound - block.header.sequences.lowerBound
                #expect(span < Limits.blockSequencesMax)
                found += own
            }
            #expect(found.count == rows.count)
            // Not by the numbers' values alone: places count.
            for (left, right) in zip(found, rows) {
                #expect(left == right)
                let places = [left, right].map { $0.reading.outcome.value?.exponent }
                #expect(places[0] == places[1])
            }
        }
    }

    @Test func aReadingTakesFourBytes() throws {
        var generator = SeededGenerator(seed: 6)
        var value: Int64 = 2_000
        let rows = try (1...5_000).map { (number: Int64) in
            value += Int64.random(in: -20...20, using: &generator)
            return try row(
                number * 50, at: number * 1_000,
                .value(DecimalValue(coefficient: value, exponent: -2)))
        }
        let blocks = ReadingBlock.blocks(of: rows)
        let bytes = blocks.reduce(0) { $0 + $1.bytes.count }
        #expect(bytes < 4 * rows.count)
        for block in blocks.dropLast() { #expect(block.bytes.count > Limits.blockBytesFull) }
    }

    private static func sealed(_ body: ArraySlice<UInt8>) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(contentsOf: body)
        writer.write(Checksum.crc32c(body))
        return writer.bytes
    }
}
