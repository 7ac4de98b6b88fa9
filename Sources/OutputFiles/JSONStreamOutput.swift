import Fleet
import Glibc
import Outputs

/// JSON lines on standard output.
public final class JSONStreamOutput: OutputSink {
    private let pipe: LinePipe

    public init(timeLimit: Duration) {
        pipe = LinePipe(
            descriptor: STDOUT_FILENO, target: "standard output", timeLimit: timeLimit)
    }

    public func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        try pipe.write(Array(JSONLines.lines(batch).joined()))
        return OutputReceipt()
    }

    public func idle(_ fleet: FleetSnapshot) throws(OutputFault) {}

    public func close() {}
}
