/// Why a program did not start, or ended: one line for people, with what to do.
public struct StartError: Error, CustomStringConvertible {
    public let description: String
    public let status: ExitStatus

    public init(_ text: String, _ status: ExitStatus) {
        description = text
        self.status = status
    }

    public init(_ cause: any Error) {
        description = "\(cause)"
        status = ExitStatus(cause)
    }
}
