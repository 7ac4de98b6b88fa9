/// Why a program did not start: one line for people, with what to do.
public struct StartError: Error, CustomStringConvertible {
    public let description: String

    public init(_ cause: some CustomStringConvertible) { description = cause.description }
}
