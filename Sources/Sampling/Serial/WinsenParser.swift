import NearbyCore
import Telemetry

/// Winsen's MH-Z19, MH-Z19B and MH-Z19C: CO₂, asked once a period.
///
/// Source: Winsen, user's manuals of the MH-Z19 V1.0 (2015) and MH-Z19B V1.0 (2016), "UART"; the
/// temperature's byte and the last two are not in them, but well known (revspace.nl/MHZ19;
/// ESPEasy's plug-in P049).
///
///     asked:    | 0xff | 0x01 | 0x86 | 0 0 0 0 0 | check |
///     answered: | 0xff | 0x86 | CO₂ 2 | temperature + 40 | status | U 2 | check |
///
/// High byte first; the check is the negated sum of the seven bytes before it, without the first.
///
/// While it starts, up to three minutes ("preheat time"), CO₂ is made up: 400, 410, 500 or another
/// number, which stands still. Early firmware has U at 15,000 then; of the rest only the standing
/// still tells (seen by users: ESPHome's #6214, WifWaf's MH-Z19 #21). What measures changes with
/// almost every answer. So CO₂ is null from the opening of the line until two answers in a row are
/// each another than the one before, but no longer than those three minutes.
package struct WinsenParser: SerialParser {
    package let channels = [ExpectedChannel("co2", "ppm"), ExpectedChannel("temperature", "Cel")]
    private var scanner = FrameScanner()

    private static let frameBytes = 9
    private static let uWhileStarting = 15_000
    private static let preheating = Duration.seconds(180)
    private static let changesNeeded = 2

    private var now: Instant?
    /// Since the line was opened, and who answers may have been switched on.
    private var suspicion: (since: Instant, last: Int64?, changes: Int)?
    private var isTrusted = false

    package init() {}

    package var request: [UInt8]? { [0xff, 0x01, 0x86, 0, 0, 0, 0, 0, 0x79] }

    package var losses: SerialLosses { scanner.losses }

    package mutating func feed(_ bytes: ArraySlice<UInt8>) -> [Measurement] {
        scanner.feed(bytes, Self.judge).flatMap { measurements($0) }
    }

    package mutating func advance(to now: Instant) { self.now = now }

    package mutating func restart() {
        scanner.restart()
        (suspicion, isTrusted) = (nil, false)
    }

    private static func judge(_ bytes: ArraySlice<UInt8>) -> FrameScanner.Verdict {
        for (byte, expected) in zip(bytes, [0xff, 0x86]) where byte != expected { return .noFrame }
        guard bytes.count >= frameBytes else { return .unfinished }
        let frame = bytes.prefix(frameBytes)
        let sum = UInt8(truncatingIfNeeded: frame.dropFirst().dropLast().byteSum)
        return 0 &- sum == frame.last ? .frame(frameBytes) : .badChecksum
    }

    private mutating func measurements(_ frame: ArraySlice<UInt8>) -> [Measurement] {
        let bytes = Array(frame)
        guard bytes.count == Self.frameBytes else { return [] }
        let carbonDioxide = Int64(bytes[2]) << 8 | Int64(bytes[3])
        let temperature = channels[1].value(Int64(bytes[4]) - 40)
        let isStarting = Int(bytes[6]) << 8 | Int(bytes[7]) == Self.uWhileStarting
        guard !isStarting, measures(carbonDioxide) else {
            return [channels[0].null(.warmingUp), temperature]
        }
        return [channels[0].value(carbonDioxide), temperature]
    }

    /// Whether this answer, the next since the line was opened, is one of a sensor that measures.
    private mutating func measures(_ carbonDioxide: Int64) -> Bool {
        guard !isTrusted, let now else { return true }
        let (since, last, changes) = suspicion ?? (now, nil, 0)
        let isChange = last.map { $0 != carbonDioxide } ?? false
        suspicion = (since, carbonDioxide, isChange ? changes + 1 : 0)
        isTrusted =
            isChange && changes + 1 >= Self.changesNeeded
            || now - since >= Self.preheating
        return isTrusted
    }
}
