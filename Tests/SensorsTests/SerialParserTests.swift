import NearbyCore
import Telemetry
import Testing
import VectorFile

@testable import Sampling
@testable import Sensors

/// What each parser has in common: however the bytes are cut and whatever is between, each frame
/// comes out once.
struct SerialParserTests {
    struct Example: Sendable, CustomStringConvertible {
        var description: String
        var bytes: [UInt8]
        var texts: [String]
        var make: @Sendable () -> any SerialParser
        /// How often `texts` comes out of noise, frame, noise, frame; a line that is not alone
        /// between its ends is lost.
        var hasChecksum = true
    }

    static let plantower = [
        "pm1 ug/m3 5", "pm2.5 ug/m3 13", "pm10 ug/m3 22", "particles.0.3 1/l 7650",
        "particles.0.5 1/l 2520", "particles.1 1/l 290", "particles.2.5 1/l 150",
        "particles.5 1/l 60", "particles.10 1/l 60",
        "pm1 ug/m3 0", "pm2.5 ug/m3 8", "pm10 ug/m3 11", "particles.0.3 1/l 1800",
        "particles.0.5 1/l 570", "particles.1 1/l 460", "particles.2.5 1/l 300",
        "particles.5 1/l 0", "particles.10 1/l 0",
    ]
    static let sentences =
        "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n"
        + "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n"

    static let examples = [
        Example(description: "pms5003", bytes: vector("pms5003"), texts: plantower) {
            PlantowerParser()
        },
        Example(
            description: "sds011", bytes: vector("sds011"),
            texts: ["pm2.5 ug/m3 123.6", "pm10 ug/m3 261.8"]
        ) { NovaParser() },
        Example(
            description: "mh-z19", bytes: vector("mh-z19"),
            texts: ["co2 ppm 608", "temperature Cel 31"]
        ) { WinsenParser() },
        Example(
            description: "nmea", bytes: Array(sentences.utf8),
            texts: [
                "lat lat 48.11730", "lon lon 11.51667", "altitude m 545.4", "satellites 1 8",
                "hdop 1 0.9", "fix 1 1", "speed [kn_i] 22.4",
            ]
        ) { PositionParser() },
        Example(
            description: "line", bytes: Array("\n21.5\r\n{\"rh\":40}\n".utf8),
            texts: ["t Cel 21.5", "t.rh Cel 40"],
            make: { LineParser(.plain(name: "t", unit: "Cel")) }, hasChecksum: false),
    ]

    @Test(arguments: examples) func aFrameIsUnderstood(_ example: Example) {
        var parser = example.make()
        #expect(!example.bytes.isEmpty)
        #expect(parser.feed(example.bytes[...]).map(\.text) == example.texts)
        #expect(parser.feed(example.bytes[...]).map(\.text) == example.texts)
        #expect(parser.losses == SerialLosses())
    }

    @Test(arguments: examples) func itDoesNotMatterWhereItIsCut(_ example: Example) {
        for cut in 0...example.bytes.count {
            var parser = example.make()
            var texts = parser.feed(example.bytes[..<cut]).map(\.text)
            texts += parser.feed(example.bytes[cut...]).map(\.text)
            #expect(texts == example.texts, "cut at \(cut)")
        }
        var parser = example.make()
        let texts = example.bytes.flatMap { parser.feed([$0]).map(\.text) }
        #expect(texts == example.texts)
    }

    @Test(arguments: examples) func framesAreFoundBetweenNoise(_ example: Example) {
        var generator = SeededGenerator(seed: 7)
        for length in 1...80 {
            var parser = example.make()
            var noise: [UInt8] = (0..<length).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if !example.hasChecksum { noise = noise.map { $0 | 0x80 } }
            // Noise that has the look of a head swallows what follows it, but not what comes then.
            let bytes = noise + example.bytes + noise + example.bytes + example.bytes
            let texts = parser.feed(bytes[...]).map(\.text)
            #expect(texts.suffix(example.texts.count) == example.texts[...], "\(length) bytes")
            let isNoticed = parser.losses != SerialLosses() || texts.count > example.texts.count
            #expect(isNoticed)
        }
    }

    @Test(arguments: examples) func noBitCanBeFlippedUnnoticed(_ example: Example) {
        guard example.hasChecksum else { return }
        for index in example.bytes.indices {
            for bit in 0..<8 {
                var parser = example.make()
                var changed = example.bytes
                changed[index] ^= 1 << UInt8(bit)
                // The second, which is sound, may complete a frame that the first began.
                let texts = parser.feed((changed + example.bytes)[...]).map(\.text)
                #expect(texts.allSatisfy(example.texts.contains), "bit \(bit) of byte \(index)")
                #expect(texts.count < 2 * example.texts.count || !matters(index, example))
            }
        }
    }

    /// Not so the end of a line, which has two bytes, and the case of a sentence's checksum.
    private func matters(_ index: Int, _ example: Example) -> Bool {
        let isChecksum = example.bytes[max(0, index - 2)] == UInt8(ascii: "*")
        return example.description != "nmea"
            || ![0x0a, 0x0d].contains(example.bytes[index]) && !isChecksum
    }

    @Test(arguments: examples) func aFrameThatIsCutOffCostsAtMostTheNext(_ example: Example) {
        for count in 0..<example.bytes.count {
            var parser = example.make()
            let bytes = example.bytes.prefix(count) + example.bytes + example.bytes
            let texts = parser.feed(bytes).map(\.text)
            #expect(texts.suffix(example.texts.count) == example.texts[...], "\(count) bytes")
        }
    }

    @Test(arguments: examples) func anythingMayCome(_ example: Example) {
        var generator = SeededGenerator(seed: 11)
        var parser = example.make()
        for _ in 0..<300 {
            var bytes: [UInt8] = []
            for _ in 0..<40 {
                // Pieces of frames, so that more than the head is reached.
                let start = Int.random(in: 0..<example.bytes.count, using: &generator)
                bytes += example.bytes[start...].prefix(Int.random(in: 1...40, using: &generator))
                bytes.append(UInt8.random(in: 0...255, using: &generator))
            }
            _ = parser.feed(bytes[...])
            if Bool.random(using: &generator) { parser.restart() }
        }
    }

    @Test(arguments: examples) func whatBeganBeforeARestartIsForgotten(_ example: Example) {
        for count in 1..<example.bytes.count {
            var parser = example.make()
            _ = parser.feed(example.bytes.prefix(count))
            parser.restart()
            #expect(parser.feed(example.bytes[...]).map(\.text) == example.texts)
        }
    }

    @Test func lossesAreCountedAndTold() {
        var parser = NovaParser()
        let frame = vector("sds011")
        _ = parser.feed([1, 2, 3])
        #expect(parser.losses.unparsedBytes == 3)
        #expect(parser.losses.text == nil)
        #expect(parser.losses.reason(since: SerialLosses()) == .malformed)
        var broken = frame
        broken[3] = 0x12
        let stray: [UInt8] = [7, 8]
        let fed = Array([frame, stray, broken, frame].joined())
        _ = parser.feed(fed[...])
        #expect(parser.losses.unparsedBytes == 0)
        #expect(parser.losses.text == "1 with a wrong checksum, 11 stray bytes")
        #expect(parser.losses.reason(since: SerialLosses()) == .checksum)
        #expect(parser.losses.reason(since: parser.losses) == nil)
    }

    @Test func anMHZ19ThatStartsIsWarmingUp() {
        var parser = WinsenParser()
        var frame: [UInt8] = [0xff, 0x86, 0x01, 0x9a, 0x40, 0x00, 0x3a, 0x98]
        frame.append(0 &- frame.dropFirst().reduce(0, &+))
        #expect(
            parser.feed(frame[...]).map(\.text) == [
                "co2 ppm null:warming-up", "temperature Cel 24",
            ])
        let request = parser.request ?? []
        #expect(request.dropFirst().reduce(UInt8(0), &+) == 0)
        #expect(request.count == 9)
    }

    /// After the opening, what stands still may be made up; but not for longer than it preheats.
    @Test(arguments: [
        ([410, 410, 410, 620, 640, 640], 5, ["-", "-", "-", "-", "640", "640"]),
        ([388, 555, 555, 555, 555], 5, ["-", "-", "-", "-", "-"]),
        ([500, 505, 505, 800, 810], 5, ["-", "-", "-", "-", "810"]),
        ([400, 400, 400, 400, 400], 60, ["-", "-", "-", "400", "400"]),
    ])
    func whatAnMHZ19MakesUpIsNotTold(
        _ answers: [Int], _ seconds: Int, _ told: [String]
    ) {
        var parser = WinsenParser()
        for _ in 0..<2 {
            parser.restart()
            var texts: [String] = []
            for (index, answer) in answers.enumerated() {
                let time = Int64(index * seconds) * 1_000_000_000
                parser.advance(to: Instant(nanoseconds: 1_000 + time))
                let high = UInt8(truncatingIfNeeded: answer >> 8)
                var frame: [UInt8] = [
                    0xff, 0x86, high, UInt8(truncatingIfNeeded: answer), 0x40, 0, 0, 0,
                ]
                frame.append(0 &- frame.dropFirst().reduce(0, &+))
                texts += parser.feed(frame[...]).prefix(1).map(\.text)
            }
            let expected = told.map { "co2 ppm " + ($0 == "-" ? "null:warming-up" : $0) }
            #expect(texts == expected)
        }
    }

    @Test func answersToCommandsOfOthersArePassedOver() {
        var dust = PlantowerParser()
        #expect(dust.feed([0x42, 0x4d, 0x00, 0x04, 0xe1, 0x00, 0x01, 0x74]).isEmpty)
        #expect(dust.feed(vector("pms5003")[...]).count == 18)
        #expect(dust.losses == SerialLosses())
        var nova = NovaParser()
        #expect(nova.feed([0xaa, 0xc5, 2, 1, 0, 0, 0xa1, 0x60, 0x04, 0xab]).isEmpty)
        #expect(nova.losses == SerialLosses())
    }
}
