import NearbyCore
import NearbyEngine
import NearbySimulator
import NearbyWire
import Telemetry

/// A member that shows other agents' boots as its own: in half of its answers to a time request is
/// the boot of one of four agents. Boots are random and end-to-end encrypted, and who claims more
/// than a collector remembers of one agent is not held here.
final class ClockLiar: FrameForger {
    /// A date of 2024.
    static let reading = ClockReading(rank: .satellite, unixOffset: .seconds(1_706_000_000))

    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    package func altered(_ payload: ArraySlice<UInt8>) -> [UInt8] {
        switch payload.first.flatMap(FrameKind.init) {
        case .bundle:
            guard let bundle = try? FrameBundle(parsing: payload.dropFirst()) else { break }
            return FrameBundle(frames: bundle.frames.map { altered($0)[...] }).bytes
        case .message:
            guard
                case .timeExchange(.answer(var answer))? = try? TelemetryMessage(
                    parsing: Array(payload.dropFirst())),
                Bool.random(using: &random)
            else { break }
            answer.boot = BootID(high: 7, low: UInt64.random(in: 0..<4, using: &random))
            return [FrameKind.message.rawValue]
                + TelemetryMessage.timeExchange(.answer(answer)).bytes
        default: break
        }
        return Array(payload)
    }
}
