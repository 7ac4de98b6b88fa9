import NearbyCore
import Telemetry

/// Plantower's PMS5003 and PMS7003 in active mode, as they are after power-on: a frame about once a
/// second.
///
/// Source: Plantower, PMS5003 series data manual (2016), Appendix I; PMS7003's is the same.
///
///     +------+------+----------+-----------------+----------+
///     | 0x42 | 0x4d | length 2 | 13 numbers of 2 | sum of 2 |
///     +------+------+----------+-----------------+----------+
///
/// The length, 28, counts what follows it; numbers have the high byte first; the sum is that of all
/// bytes before it. Numbers 4–6 are µg/m³ of particles under 1, 2.5 and 10 µm "under atmospheric
/// environment" (1–3 are the same for calibration), 7–12 the particles over 0.3 to 10 µm in 0.1 l.
package struct PlantowerParser: SerialParser {
    package let channels = Self.mass + Self.counts
    private var scanner = FrameScanner()

    private static let mass = ["pm1", "pm2.5", "pm10"].map { ExpectedChannel($0, "ug/m3") }
    private static let counts = ["0.3", "0.5", "1", "2.5", "5", "10"].map {
        ExpectedChannel("particles.\($0)", "1/l")
    }

    package init() {}

    package var losses: SerialLosses { scanner.losses }

    package mutating func feed(_ bytes: ArraySlice<UInt8>) -> [Measurement] {
        scanner.feed(bytes, Self.judge).flatMap { (try? Self.measurements($0)) ?? [] }
    }

    package mutating func restart() { scanner.restart() }

    private static func judge(_ bytes: ArraySlice<UInt8>) -> FrameScanner.Verdict {
        for (byte, expected) in zip(bytes, [0x42, 0x4d, 0x00]) where byte != expected {
            return .noFrame
        }
        guard let length = bytes.dropFirst(3).first else { return .unfinished }
        // 4: the answer to a command, which somebody else gave.
        guard length == 28 || length == 4 else { return .noFrame }
        let count = Int(length) + 4
        guard bytes.count >= count else { return .unfinished }
        let frame = bytes.prefix(count)
        var tail = ByteReader(frame.suffix(2))
        return frame.dropLast(2).byteSum == (try? tail.readUInt16()) ? .frame(count) : .badChecksum
    }

    private static func measurements(
        _ frame: ArraySlice<UInt8>
    ) throws(WireError) -> [Measurement] {
        guard frame.count == 32 else { return [] }
        var reader = ByteReader(frame.dropFirst(10))
        var result: [Measurement] = []
        for channel in mass {
            result.append(channel.value(Int64(try reader.readUInt16())))
        }
        for channel in counts {
            // In 0.1 l; ten times as many in a litre.
            let count = Int64(try reader.readUInt16())
            result.append(channel.value(count, exponent: 1))
        }
        return result
    }
}
