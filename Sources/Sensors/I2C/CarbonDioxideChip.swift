import NearbyCore
import Sampling
import Telemetry

/// SCD40 and SCD41, measuring by themselves every 5 s.
///
/// Source: Sensirion, SCD4x data sheet 1.5 (2023), §3.5, §3.8.2, §3.11. Commands and answers are
/// words with the high byte first; each word that is answered has a CRC-8 behind it.
struct CarbonDioxideChip: I2CChip {
    let channels = [
        ExpectedChannel("co2", "ppm"), ExpectedChannel("temperature", "Cel"),
        ExpectedChannel("humidity", "%RH"),
    ]
    /// When it was told to measure, or gave a value last.
    private var last: Instant?
    private var hasValue = false

    private static let start: [UInt8] = [0x21, 0xb1]
    private static let read: [UInt8] = [0xec, 0x05]
    private static let isReady: [UInt8] = [0xe4, 0xb8]
    private static let commandMilliseconds = 1
    /// Three of its periods: it does not measure any more.
    private static let readyTimeout = Duration.seconds(15)

    mutating func sample(_ bus: any I2CBus, now: Instant) throws(I2CFault) -> [Measurement] {
        // Eleven bits of the answer are 0 while there is nothing new.
        let status = try ask(Self.isReady, words: 1, bus)[0]
        guard let status else { return nulls(.checksum) }
        if status & 0x7ff != 0 {
            (last, hasValue) = (now, true)
            return measurements(try ask(Self.read, words: 3, bus))
        }
        if let last, now - last < Self.readyTimeout { return hasValue ? [] : nulls(.warmingUp) }
        let hasStopped = last != nil
        // One that measures already, since an earlier run, refuses; then all is well too.
        _ = try? bus.transfer(Self.start, read: 0)
        (last, hasValue) = (now, false)
        return nulls(hasStopped ? .timeout : .warmingUp)
    }

    mutating func restart() { (last, hasValue) = (nil, false) }

    /// The words of an answer, nil where the checksum is wrong.
    private func ask(
        _ command: [UInt8], words: Int, _ bus: any I2CBus
    ) throws(I2CFault) -> [UInt16?] {
        _ = try bus.transfer(command, read: 0)
        bus.pause(milliseconds: Self.commandMilliseconds)
        let bytes = try bus.transfer([], read: 3 * words)
        return (0..<words).map { index in
            let word = bytes.dropFirst(3 * index).prefix(3)
            guard word.count == 3, Self.checksum(word.dropLast()) == word.last else { return nil }
            return word.dropLast().reduce(0) { $0 << 8 | UInt16($1) }
        }
    }

    private func measurements(_ words: [UInt16?]) -> [Measurement] {
        zip(channels, words).enumerated().map { index, pair in
            let (channel, word) = pair
            guard let word else { return channel.null(.checksum) }
            // It measures up to 40,000 ppm; 0 is none.
            if index == 0, !(1...40_000).contains(word) { return channel.null(.outOfRange) }
            switch index {
            case 0: return channel.value(Int64(word))
            // −45 + 175 × word / 65,535, to hundredths.
            case 1: return channel.value(Self.share(of: 17_500, word) - 4_500, exponent: -2)
            default: return channel.value(Self.share(of: 10_000, word), exponent: -2)
            }
        }
    }

    /// Rounded half up.
    private static func share(of whole: Int64, _ word: UInt16) -> Int64 {
        (whole * Int64(word) * 2 + 65_535) / (2 * 65_535)
    }

    /// CRC-8 with the polynomial 0x31, from 0xff (§3.11).
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0xff) { checksum, byte in
            (0..<8).reduce(checksum ^ byte) { value, _ in
                value & 0x80 != 0 ? value << 1 ^ 0x31 : value << 1
            }
        }
    }
}
