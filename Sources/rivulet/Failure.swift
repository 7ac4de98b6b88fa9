import Configuration
import Glibc
import NodeShell

/// What is written on standard error before the command ends with its status.
struct Failure: Error, CustomStringConvertible {
    let description: String
    let status: ExitStatus

    init(_ description: String, _ status: ExitStatus) {
        self.description = description
        self.status = status
    }

    init(_ cause: any Error) {
        description = "\(cause)"
        status = (cause as? Failure)?.status ?? ExitStatus(cause)
    }

    /// A line for each.
    init(_ mistakes: [Mistake]) {
        description = mistakes.map(\.description).joined(separator: "\n")
        status = ExitStatus(mistakes)
    }

    /// Ends the program.
    func leave() -> Never {
        if !description.isEmpty { complain(description) }
        exit(status.rawValue)
    }
}
