import NearbyTransfers

/// How a stream or a resource ended.
public typealias TransferEnd = NearbyTransfers.TransferEnd

/// Why something did not happen: a code that programs tell apart, and a sentence for people.
public struct NearbyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// With the numbers of MultipeerConnectivity.
    public enum Code: Int, Sendable {
        /// What has no other code.
        case unknown = 0
        /// The peer is not connected in this session.
        case notConnected = 1
        /// The program asked for what cannot be: the description says what can.
        case invalidParameter = 2
        /// This is not offered.
        case unsupported = 3
        /// Nobody answered in time.
        case timedOut = 4
        /// The program, its task or the other side thought better of it.
        case cancelled = 5
        /// Not now, or not with this peer: what stands in the way is in the description.
        case unavailable = 6
    }

    /// What programs tell apart.
    public let code: Code
    /// What happened, and what to do about it.
    public let description: String
    /// How a stream or a resource ended, where it is about one.
    public let end: TransferEnd?

    /// For errors of programs that speak through this type.
    public init(_ code: Code, _ description: String, end: TransferEnd? = nil) {
        self.code = code
        self.description = description
        self.end = end
    }

    static let cancelled = NearbyError(.cancelled, "it was cancelled")
}
