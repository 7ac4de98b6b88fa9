import NearbyCore
import NearbyWire
import Testing

struct SegmentFrameTests {
    @Test func segment() throws {
        // The data ends the frame: the segment alone cannot tell that some is missing.
        try expectSound(
            vector: "segment", SegmentFrame(number: 300, offset: 1_024, data: [1, 2, 3]),
            emit: \.bytes, parse: { try SegmentFrame(parsing: $0.dropFirst()) }, shortest: 5)
    }

    @Test func acknowledgement() throws {
        let frame = try #require(
            AcknowledgementFrame(
                ranges: [300..<301, 290..<296, 0..<289], delay: .microseconds(1_500),
                windowLimit: 2 << 20))
        try expectSound(
            vector: "acknowledgement", frame, emit: \.bytes,
            parse: { try AcknowledgementFrame(parsing: $0.dropFirst()) })
        #expect(frame.largest == 300)
    }

    @Test func headerCountsItsBytes() {
        let far = Limits.sessionNumberEnd - 1
        for (number, offset) in [(0, 0), (127, 128), (1 << 14, 1 << 21), (far, far)]
            as [(UInt64, UInt64)]
        {
            let frame = SegmentFrame(number: number, offset: offset, data: [])
            #expect(
                frame.bytes.count == SegmentFrame.headerByteCount(number: number, offset: offset))
        }
    }

    @Test func numbersBeyondTheEndAreRefused() {
        var writer = ByteWriter()
        writer.writeVarint(Limits.sessionNumberEnd)
        let large = writer.bytes
        #expect(throws: WireError.self) { try SegmentFrame(parsing: (large + [0])[...]) }
        #expect(throws: WireError.self) { try SegmentFrame(parsing: ([0] + large)[...]) }
        #expect(throws: WireError.self) {
            try AcknowledgementFrame(parsing: (large + [0, 0, 0, 0])[...])
        }
        #expect(throws: WireError.self) {
            try AcknowledgementFrame(parsing: ([0, 0] + large + [0, 0])[...])
        }
    }

    @Test func tooMuchDataIsRefused() {
        let body = [UInt8](repeating: 0, count: Limits.segmentBytesMax + 3)
        #expect(throws: WireError.self) { try SegmentFrame(parsing: body[...]) }
    }

    @Test func rangesThatReachBelowZeroAreRefused() {
        // Largest 5; a length of 7; a gap of 5 below 5–5; a second range longer than what is left.
        for body in [[5, 0, 0, 0, 6], [5, 0, 0, 1, 0, 4, 0], [5, 0, 0, 1, 0, 0, 4]] as [[UInt8]] {
            #expect(throws: WireError.self) { try AcknowledgementFrame(parsing: body[...]) }
        }
        #expect(throws: Never.self) {
            try AcknowledgementFrame(parsing: ([5, 0, 0, 1, 0, 0, 3] as [UInt8])[...])
        }
    }

    @Test func moreRangesThanTheLimitAreRefused() {
        let count = Limits.acknowledgedRangesMax + 1
        let numbers = (0..<UInt64(count)).reversed()
        let ranges = numbers.map { (number: UInt64) in number * 2..<number * 2 + 1 }
        #expect(AcknowledgementFrame(ranges: ranges, delay: .zero, windowLimit: 0) == nil)
        let fits = AcknowledgementFrame(
            ranges: Array(ranges.dropLast()), delay: .zero, windowLimit: 0)
        #expect(fits != nil)
        // Largest 127, as many further ranges as there may be ranges at all.
        let body = [127, 0, 0, UInt8(count - 1)] + [UInt8](repeating: 0, count: count * 2 - 1)
        #expect(throws: WireError.self) { try AcknowledgementFrame(parsing: body[...]) }
    }

    @Test func rangesOutOfOrderAreNoFrame() {
        for ranges in [[], [1..<2, 3..<4], [3..<4, 2..<3], [3..<5, 2..<4], [3..<3]]
            as [[Range<UInt64>]]
        {
            #expect(AcknowledgementFrame(ranges: ranges, delay: .zero, windowLimit: 0) == nil)
        }
    }
}
