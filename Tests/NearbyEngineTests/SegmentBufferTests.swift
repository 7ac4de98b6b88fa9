import NearbyCore
import Testing

@testable import NearbyEngine

struct SegmentBufferTests {
    @Test func oneByteFarBehindCostsNoMoreThanAByte() {
        var buffer = SegmentBuffer()
        let far = UInt64(Limits.receiveWindowBytes - 1)
        #expect(buffer.insert([1], at: far) == .new)
        #expect(buffer.heldByteCount == 1)
        for offset in 0..<10_000 as Range<UInt64> {
            #expect(buffer.insert([2], at: offset) == .new)
            buffer.use(1)
            #expect(buffer.heldByteCount <= 3)
        }
        #expect(buffer.base == 10_000)
        #expect(buffer.ready.isEmpty)
    }

    @Test func usedBytesAreAtMostHalfOfWhatIsHeld() {
        var buffer = SegmentBuffer()
        _ = buffer.insert([UInt8](repeating: 5, count: 1_000)[...], at: 0)
        for used in 1...999 {
            buffer.use(1)
            #expect(buffer.ready.count == 1_000 - used)
            #expect(buffer.heldByteCount <= 2 * (1_000 - used) + 1)
        }
    }

    @Test func segmentsInAnyOrderWithOverlapsGiveTheStream() {
        for seed in 0..<60 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let stream = (0..<2_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            var buffer = SegmentBuffer()
            var used: [UInt8] = []
            var came = Set<Int>()
            while used.count < stream.count {
                let start = Int.random(in: 0..<stream.count, using: &random)
                let end = min(stream.count, start + Int.random(in: 1...90, using: &random))
                let isNews = (start..<end).contains { !came.contains($0) }
                let insertion = buffer.insert(stream[start..<end], at: UInt64(start))
                #expect(insertion == (isNews ? .new : .duplicate))
                came.formUnion(start..<end)
                let ready = (0...stream.count).first { !came.contains($0) } ?? 0
                #expect(Array(buffer.ready) == Array(stream[used.count..<ready]))
                #expect(buffer.heldByteCount <= 2 * came.count)
                if Bool.random(using: &random) {
                    let count = Int.random(in: 0...buffer.ready.count, using: &random)
                    used += buffer.ready.prefix(count)
                    buffer.use(count)
                    #expect(buffer.base == UInt64(used.count))
                }
            }
            #expect(used == stream)
        }
    }

    @Test func morePiecesThanThereMayBeAreRefusedAndTheFirstGapIsNot() {
        var buffer = SegmentBuffer()
        for piece in 0..<UInt64(Limits.receivedPiecesMax) {
            #expect(buffer.insert([9], at: 2 + piece * 2) == .new)
        }
        #expect(buffer.insert([9], at: 1_000_000) == .full)
        #expect(buffer.insert([7, 8], at: 0) == .new)
        #expect(Array(buffer.ready) == [7, 8, 9])
        #expect(buffer.insert([9], at: 1_000_000) == .new)
    }
}
