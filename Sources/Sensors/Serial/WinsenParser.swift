import NearbyCore
import Telemetry

/// Winsen's MH-Z19, MH-Z19B and MH-Z19C: CO₂, asked once a period.
///
/// Source: Winsen, MH-Z19B user's manual V1.0 (2016), "UART"; the temperature's byte and the last
/// two are not in it, but well known (revspace.nl/MHZ19; ESPEasy's plug-in P049).
///
///     asked:    | 0xff | 0x01 | 0x86 | 0 0 0 0 0 | check |
///     answered: | 0xff | 0x86 | CO₂ 2 | temperature + 40 | status | U 2 | check |
///
/// High byte first; the check is the negated sum of the seven bytes before it, without the first.
/// While it starts, an MH-Z19 shows a made-up CO₂ of about 400 ppm and U as 15,000.
struct WinsenParser: SerialParser {
    let channels = [ExpectedChannel("co2", "ppm"), ExpectedChannel("temperature", "Cel")]
    private var scanner = FrameScanner()

    private static let frameBytes = 9
    private static let uWhileStarting = 15_000

    var request: [UInt8]? { [0xff, 0x01, 0x86, 0, 0, 0, 0, 0, 0x79] }

    var losses: SerialLosses { scanner.losses }

    mutating func feed(_ bytes: ArraySlice<UInt8>) -> [Measurement] {
        scanner.feed(bytes, Self.judge).flatMap(measurements)
    }

    mutating func restart() { scanner.restart() }

    private static func judge(_ bytes: ArraySlice<UInt8>) -> FrameScanner.Verdict {
        for (byte, expected) in zip(bytes, [0xff, 0x86]) where byte != expected { return .noFrame }
        guard bytes.count >= frameBytes else { return .unfinished }
        let frame = bytes.prefix(frameBytes)
        let sum = UInt8(truncatingIfNeeded: frame.dropFirst().dropLast().byteSum)
        return 0 &- sum == frame.last ? .frame(frameBytes) : .badChecksum
    }

    private func measurements(_ frame: ArraySlice<UInt8>) -> [Measurement] {
        let bytes = Array(frame)
        guard bytes.count == Self.frameBytes else { return [] }
        let carbonDioxide = Int64(bytes[2]) << 8 | Int64(bytes[3])
        let temperature = channels[1].value(Int64(bytes[4]) - 40)
        let isStarting = Int(bytes[6]) << 8 | Int(bytes[7]) == Self.uWhileStarting
        guard !isStarting else {
            return [channels[0].null(.warmingUp), temperature]
        }
        return [channels[0].value(carbonDioxide), temperature]
    }
}
