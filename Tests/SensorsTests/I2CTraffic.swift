import NearbyCore
import Synchronization
import Telemetry

@testable import Sensors

/// A device that answers as recorded, and notes whoever asks otherwise.
final class I2CTraffic: I2CBus, Sendable {
    private struct Step {
        var written: [UInt8]
        var read: [UInt8]
        var isRefused: Bool
        var line: String
    }

    private let steps: Mutex<ArraySlice<Step>>
    private let pauses = Mutex(0)
    private let mistake = Mutex<String?>(nil)

    /// Lines of `w BYTES r BYTES`, of which either may be missing; a `!` at the end: not
    /// acknowledged.
    init(_ text: String) {
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        steps = Mutex(lines.map { Self.step($0) }[...])
    }

    /// The recording `Vectors/NAME.traffic`.
    convenience init(named name: String, directoryOf file: StaticString = #filePath) {
        let folder = "\(file)".split(separator: "/").dropLast().joined(separator: "/")
        let path = "/\(folder)/Vectors/\(name).traffic"
        self.init((try? SensorFile.read(path, limit: 65_536).get()) ?? "")
    }

    /// What went otherwise than recorded, or was left over; nil if nothing.
    var fault: String? {
        mistake.withLock { $0 } ?? steps.withLock { $0.first.map { "left over: \($0.line)" } }
    }

    var left: Int { steps.withLock { $0.count } }

    /// Milliseconds since the last time it was asked.
    func takePauses() -> Int {
        pauses.withLock { pauses in
            defer { pauses = 0 }
            return pauses
        }
    }

    func transfer(_ written: [UInt8], read count: Int) throws(I2CFault) -> [UInt8] {
        let step = steps.withLock { $0.popFirst() }
        guard let step, step.written == written, step.isRefused || step.read.count == count else {
            mistake.withLock { mistake in
                mistake = mistake ?? "wrote \(written), read \(count), not \(step?.line ?? "")"
            }
            throw I2CFault(reason: .failed, message: "not as recorded")
        }
        guard !step.isRefused else { throw I2CFault(reason: .absent, message: "refused") }
        return step.read
    }

    func pause(milliseconds: Int) { pauses.withLock { $0 += milliseconds } }

    private static func step(_ line: Substring) -> Step {
        var step = Step(written: [], read: [], isRefused: false, line: String(line))
        var isRead = false
        for word in line.split(separator: " ") {
            switch word {
            case "w": isRead = false
            case "r": isRead = true
            case "!": step.isRefused = true
            default:
                let byte = UInt8(word, radix: 16) ?? 0
                if isRead { step.read.append(byte) } else { step.written.append(byte) }
            }
        }
        return step
    }
}
