import NearbyCore
import Testing

@testable import Outputs

@Suite struct SnappyTests {
    /// The format read in the plainest way; nil for what is no block.
    private func decompress(_ block: [UInt8]) -> [UInt8]? {
        var rest = block[...]
        func next() -> Int? { rest.popFirst().map(Int.init) }
        var length = 0
        var shift = 0
        while let byte = next() {
            length |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80 { break }
        }
        var result: [UInt8] = []
        while let tag = next() {
            if tag & 3 == 0 {
                var count = tag >> 2
                if count == 60 {
                    count = next() ?? 0
                } else if count == 61 {
                    count = (next() ?? 0) | (next() ?? 0) << 8
                } else if count > 61 {
                    return nil
                }
                guard rest.count > count else { return nil }
                result += rest.prefix(count + 1)
                rest = rest.dropFirst(count + 1)
            } else {
                guard tag & 3 == 2, let low = next(), let high = next() else { return nil }
                let offset = low | high << 8
                guard offset > 0, offset <= result.count else { return nil }
                for _ in 0...(tag >> 2) { result.append(result[result.count - offset]) }
            }
        }
        return result.count == length ? result : nil
    }

    @Test func theEmptyBlock() { #expect(Snappy.compress([]) == [0]) }

    @Test func aGoldenBlock() {
        // Length 12; a literal of four bytes; a copy of eight from four back.
        #expect(
            Snappy.compress(Array("abcdabcdabcd".utf8))
                == [12, 3 << 2, 0x61, 0x62, 0x63, 0x64, 7 << 2 | 2, 4, 0])
    }

    @Test func whatIsCompressedComesBack() {
        var generator = SeededGenerator(seed: 42)
        for round in 0..<300 {
            let count = Int.random(in: 0...(round % 10 == 0 ? 200_000 : 3_000), using: &generator)
            let letters = UInt8.random(in: 0...255, using: &generator)
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count)
            while bytes.count < count {
                let isRepeat = Bool.random(using: &generator) && bytes.count > 8
                let length = min(Int.random(in: 1...90, using: &generator), count - bytes.count)
                let from = isRepeat ? Int.random(in: 0..<bytes.count, using: &generator) : 0
                for index in 0..<length {
                    bytes.append(
                        isRepeat
                            ? bytes[from + index % max(1, bytes.count - from)]
                            : UInt8.random(in: 0...letters, using: &generator))
                }
            }
            #expect(decompress(Snappy.compress(bytes)) == bytes, "round \(round)")
        }
    }

    @Test func readingsBecomeMuchSmaller() {
        let series = (0..<20).map { Batches.series("channel-\($0)") }
        let readings = (0..<2_000).map {
            Batches.reading(UInt64($0), utc: Int64($0) * 50_000_000, series: $0 % 20)
        }
        let message = RemoteWrite.message(
            RemoteWrite.series(of: Batches.batch(series, readings)).series)
        #expect(Snappy.compress(message).count * 2 < message.count)
    }
}
