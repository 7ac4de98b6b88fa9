import NearbyTransfers

public typealias TransferEnd = NearbyTransfers.TransferEnd

/// Why something did not happen: a code that programs tell apart, and a sentence for people.
public struct NearbyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// With the numbers of MultipeerConnectivity.
    public enum Code: Int, Sendable {
        case unknown = 0
        /// The peer is not connected in this session.
        case notConnected = 1
        case invalidParameter = 2
        case unsupported = 3
        case timedOut = 4
        case cancelled = 5
        /// Not now, or not with this peer: what stands in the way is in the description.
        case unavailable = 6
    }

    public let code: Code
    /// What happened, and what to do about it.
    public let description: String
    /// How a stream or a resource ended, where it is about one.
    public let end: TransferEnd?

    public init(_ code: Code, _ description: String, end: TransferEnd? = nil) {
        self.code = code
        self.description = description
        self.end = end
    }

    static let cancelled = NearbyError(.cancelled, "it was cancelled")
}
