import NearbyCore
import Telemetry

/// Nova Fitness's SDS011 in active mode, as it is delivered: a frame a second.
///
/// Source: Nova Fitness, SDS011 specification V1.3 (2015), "UART communication protocol", and Laser
/// Dust Sensor Control Protocol V1.3.
///
///     +------+------+---------+--------+------+-----+------+
///     | 0xaa | 0xc0 | PM2.5 2 | PM10 2 | id 2 | sum | 0xab |
///     +------+------+---------+--------+------+-----+------+
///
/// Tenths of µg/m³, low byte first; the sum is that of the six bytes before it.
package struct NovaParser: SerialParser {
    package let channels = [ExpectedChannel("pm2.5", "ug/m3"), ExpectedChannel("pm10", "ug/m3")]
    private var scanner = FrameScanner()

    private static let frameBytes = 10

    package init() {}

    package var losses: SerialLosses { scanner.losses }

    package mutating func feed(_ bytes: ArraySlice<UInt8>) -> [Measurement] {
        scanner.feed(bytes, Self.judge).flatMap(measurements)
    }

    package mutating func restart() { scanner.restart() }

    private static func judge(_ bytes: ArraySlice<UInt8>) -> FrameScanner.Verdict {
        guard bytes.first == 0xaa else { return .noFrame }
        guard let kind = bytes.dropFirst().first else { return .unfinished }
        // 0xc5: the answer to a command, which somebody else gave.
        guard kind == 0xc0 || kind == 0xc5 else { return .noFrame }
        guard bytes.count >= frameBytes else { return .unfinished }
        let frame = bytes.prefix(frameBytes)
        guard frame.last == 0xab else { return .noFrame }
        let sum = UInt8(truncatingIfNeeded: frame.dropFirst(2).prefix(6).byteSum)
        return sum == frame.dropLast().last ? .frame(frameBytes) : .badChecksum
    }

    private func measurements(_ frame: ArraySlice<UInt8>) -> [Measurement] {
        let bytes = Array(frame)
        guard bytes.count == Self.frameBytes, bytes[1] == 0xc0 else { return [] }
        return zip(channels, [2, 4]).map { channel, place in
            let tenths = Int64(bytes[place]) | Int64(bytes[place + 1]) << 8
            return channel.value(tenths, exponent: -1)
        }
    }
}
