import Fleet
import NearbyCore
import NodeShell
import Store

/// An output in `rivulet status`.
enum OutputLine {
    /// `output     lines (json /var/lib/readings.jsonl): current, 120 delivered`
    static func text(_ output: OutputStatus) -> String {
        var words = ["\(output.phase.rawValue)"]
        if let since = output.failingSince { words[0] += " for \(AgeText.text(since))" }
        words.append("\(output.deliveredCount) delivered")
        if output.waitingCount > 0 {
            let age =
                output.lag >= .seconds(1) ? ", the oldest \(AgeText.text(output.lag)) old" : ""
            words.append("\(output.waitingCount) waiting\(age)")
        }
        if output.refusedCount > 0 { words.append("\(output.refusedCount) refused") }
        if output.lostCount > 0 { words.append("\(output.lostCount) lost") }
        if let fault = output.lastFault, output.failingSince != nil { words.append(fault) }
        let place = "\(output.kind) \(output.target)"
        let name = output.name == place ? place : "\(output.name) (\(place))"
        return "output     \(name): " + words.joined(separator: ", ")
    }

    static func json(_ output: OutputStatus, _ holds: Store.Holds) -> JSONValue {
        .object([
            ("name", .string(output.name)),
            ("kind", .string(output.kind)),
            ("target", .string(output.target)),
            ("phase", .string(output.phase.rawValue)),
            ("waiting", .integer(output.waitingCount)),
            ("lagSeconds", .integer(output.lag.components.seconds)),
            ("delivered", .integer(output.deliveredCount)),
            ("refused", .integer(output.refusedCount)),
            ("lost", .integer(output.lostCount)),
            ("fault", .text(output.lastFault)),
            (
                "failingSeconds",
                output.failingSince.map { .integer($0.components.seconds) } ?? .null
            ),
            ("holdsRetention", .flag(holds.held.contains(output.name))),
        ])
    }
}
