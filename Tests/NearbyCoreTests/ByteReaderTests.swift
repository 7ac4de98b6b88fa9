import NearbyCore
import Testing

struct ByteReaderTests {
    @Test func whatIsWrittenIsRead() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let value = generator.next() >> (generator.next() % 64)
            let signed = Int64(bitPattern: generator.next()) >> Int64(generator.next() % 64)
            var writer = ByteWriter()
            writer.write(UInt8(truncatingIfNeeded: value))
            writer.write(UInt16(truncatingIfNeeded: value))
            writer.write(UInt32(truncatingIfNeeded: value))
            writer.write(value)
            writer.writeVarint(value)
            writer.writeSignedVarint(signed)
            writer.writeString("näh")
            var reader = ByteReader(writer.bytes)
            #expect(try reader.readUInt8() == UInt8(truncatingIfNeeded: value))
            #expect(try reader.readUInt16() == UInt16(truncatingIfNeeded: value))
            #expect(try reader.readUInt32() == UInt32(truncatingIfNeeded: value))
            #expect(try reader.readUInt64() == value)
            let before = reader.consumedCount
            #expect(try reader.readVarint() == value)
            #expect(reader.consumedCount - before == ByteWriter.varintByteCount(value))
            #expect(try reader.readSignedVarint() == signed)
            #expect(try reader.readString(limit: 8, field: "name") == "näh")
            try reader.requireEnd()
        }
    }

    @Test func aShortInputIsTruncated() {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: WireError.truncated(needed: 4, available: 3)) { try reader.readUInt32() }
        #expect(throws: WireError.truncated(needed: 9, available: 3)) { try reader.readBytes(9) }
        #expect(throws: WireError.truncated(needed: -1, available: 3)) { try reader.readBytes(-1) }
    }

    @Test(
        arguments: [
            [0x80, 0x00],  // longer than needed
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],  // 65 bits
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],  // 11 bytes
        ] as [[UInt8]])
    func aMalformedVarintIsRefused(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        #expect(throws: WireError.invalid(field: "varint")) { try reader.readVarint() }
    }

    @Test func countsAboveTheLimitAreRefusedBeforeReading() {
        var reader = ByteReader([0xff, 0xff, 0xff, 0xff, 0x0f])
        #expect(throws: WireError.tooLong(limit: 10, actual: 0xffff_ffff)) {
            try reader.readCountedBytes(limit: 10)
        }
    }

    @Test func invalidUTF8IsRefused() {
        var reader = ByteReader([2, 0xc3, 0x28])
        #expect(throws: WireError.invalid(field: "name")) {
            try reader.readString(limit: 9, field: "name")
        }
    }
}

struct InstantTests {
    @Test func arithmeticSaturates() {
        let far = Instant.distantFuture + .seconds(1)
        #expect(far == .distantFuture)
        #expect(Instant(nanoseconds: .min) - .seconds(1) == Instant(nanoseconds: .min))
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(-Int64.max).nanoseconds == .min)
        #expect(Instant(nanoseconds: 5_000_000) - Instant.zero == .milliseconds(5))
    }

    @Test func counters() {
        var counters = DropCounters()
        counters.count(.frameForged)
        counters.count(.frameForged, 2)
        var sum = DropCounters()
        sum.add(counters)
        #expect(sum[.frameForged] == 3)
        #expect(sum.all.reduce(0) { $0 + $1.count } == 3)
        #expect(sum.all.count == DropReason.allCases.count)
    }
}
