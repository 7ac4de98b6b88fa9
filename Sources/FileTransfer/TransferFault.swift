/// Why a file was not sent or received: a kind that the exit status is made of, and a sentence.
public struct TransferFault: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The file or the folder is not there.
        case noInput
        /// Without permission.
        case notPermitted
        /// What was asked for fits several.
        case ambiguous
        /// Nobody is there, or who is does not want it.
        case unavailable
        /// The receiver cannot keep the file.
        case cannotCreate
        /// Reading or writing failed.
        case inputOutput
        /// The same command goes on where this one ended.
        case tryAgain
        /// The user, or the task, wanted no more.
        case cancelled
    }

    public let kind: Kind
    /// What happened, and what to do about it.
    public let description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    static let cancelled = TransferFault(.cancelled, "it was interrupted")
}
