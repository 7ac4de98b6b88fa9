import Fleet
import Glibc
import Outputs

/// JSON lines to a program that is kept running.
public final class JSONCommandOutput: OutputSink {
    private let words: [String]
    private let acknowledges: Bool
    private let timeLimit: Duration
    private var program: RunningProgram?

    /// - Parameters:
    ///   - words: the program's path and its arguments.
    ///   - acknowledges: whether it writes a line for each batch that it has; an empty line ends a
    ///     batch.
    public init(_ words: [String], acknowledges: Bool, timeLimit: Duration) {
        self.words = words
        self.acknowledges = acknowledges
        self.timeLimit = timeLimit
    }

    public func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        let lines = JSONLines.lines(batch)
        if lines.isEmpty { return OutputReceipt() }
        let running = try started()
        let pipe = LinePipe(
            descriptor: running.input, target: running.path, timeLimit: timeLimit)
        do throws(OutputFault) {
            try pipe.write(Array(lines.joined()) + (acknowledges ? [UInt8(ascii: "\n")] : []))
            if acknowledges, let answers = running.output {
                guard try pipe.readLine(from: answers) != nil else {
                    throw OutputFault(.unavailable, "\(running.path): it ended without an answer")
                }
            }
        } catch {
            program = nil
            // How it ended says more than that nobody reads.
            throw running.fault ?? error
        }
        return OutputReceipt()
    }

    public func idle(_ fleet: FleetSnapshot) throws(OutputFault) {
        guard let fault = try started().fault else { return }
        program = nil
        throw fault
    }

    public func close() {
        program?.finish()
        program = nil
    }

    private func started() throws(OutputFault) -> RunningProgram {
        if let program { return program }
        let started = try RunningProgram(words, answers: acknowledges)
        program = started
        return started
    }
}
