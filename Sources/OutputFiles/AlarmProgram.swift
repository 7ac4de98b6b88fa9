import NearbyCore
import Outputs

/// A program that is run once for each change of an alarm, which it finds in its environment.
public struct AlarmProgram: Sendable {
    private let words: [String]
    private let timeLimit: Duration

    /// - Parameter words: the program's path and its arguments.
    public init(_ words: [String], timeLimit: Duration) {
        self.words = words
        self.timeLimit = timeLimit
    }

    /// Returns when it has ended well. It is killed, with all that it has started, when the time is
    /// over.
    public func run(_ environment: [String]) throws(OutputFault) {
        let program = try RunningProgram(words, answers: false, environment: environment)
        program.finish(within: Int(clamping: timeLimit.milliseconds))
        guard let isContent = program.isContent else {
            throw OutputFault(
                .unavailable,
                "\(program.path) did not end within \(timeLimit.milliseconds) ms: killed")
        }
        if !isContent, let fault = program.fault { throw fault }
    }
}
