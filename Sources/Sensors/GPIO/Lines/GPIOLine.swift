import Glibc
import Telemetry

/// How a configuration names a line.
public enum LineName: Equatable, Sendable {
    /// By the kernel's name for it (`GPIO17`), or by what the board's header calls it (`11`).
    /// `chip` tells apart lines of one name.
    case pin(String, chip: String?)
    /// By the chip's name, label or number, and the line's number on it, from 0.
    case line(UInt32, chip: String)
}

/// Where a board's header leads: for a pin's number or name, a chip's name or label and a line.
public typealias HeaderPins = @Sendable (String) -> (chip: String, line: UInt32)?

/// What the kernel connects to a line where nothing outside does.
public enum LineBias: String, Sendable {
    case asIs = "as-is"
    case none
    case pullUp = "pull-up"
    case pullDown = "pull-down"
}

/// Why a line cannot be used, for people.
struct LineFault: Error, Equatable, Sendable {
    var reason: NullReason
    var text: String
}

/// A line of a chip, once found.
struct FoundLine: Sendable, CustomStringConvertible {
    /// The chip's device.
    var path: String
    var chip: String
    var line: UInt32
    /// The kernel's; empty: none.
    var name: String
    /// Who holds it, if anybody does; empty if that is not told.
    var holder: String?

    /// `GPIO17 (gpiochip0 line 17)`
    var description: String {
        let place = "\(chip) line \(line)"
        return name.isEmpty ? place : "\(name) (\(place))"
    }
}

extension LineFault {
    /// The kernel does not give us the line; `holder` has it.
    init(_ line: FoundLine, _ fault: LineRequest.Fault, holder: String?) {
        switch fault.code {
        case EBUSY:
            let who =
                holder.map { $0.isEmpty ? "the kernel or a program that gives no name" : $0 }
                ?? "somebody who has let go by now"
            self.init(
                reason: .busy,
                text: "\(line) is held by \(who); only one can have it: end that, or take another "
                    + "line")
        case EACCES, EPERM:
            self.init(
                reason: .denied, text: SensorFile.denial(line.path, fault.code, group: "gpio"))
        default:
            self.init(
                reason: .failed,
                text: "\(line) is refused: \(SensorFile.message(fault.code)); not every line has "
                    + "edges, and not every chip a bias")
        }
    }
}
