import Foundation
import Nearby

/// The domain of every error of this module.
public let MCErrorDomain: String = "MCErrorDomain"

/// What went wrong: a code, and a sentence in `localizedDescription`.
///
/// Bridges to `NSError` with the domain `MCErrorDomain`; `catch MCError.notConnected` matches it.
public struct MCError: _BridgedStoredNSError, Sendable {
    public let _nsError: NSError

    /// Takes an error of the domain `MCErrorDomain`.
    public init(_nsError error: NSError) {
        precondition(error.domain == MCErrorDomain, "an error of the domain \(error.domain)")
        _nsError = error
    }

    public static var _nsErrorDomain: String { MCErrorDomain }

    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        public typealias _ErrorType = MCError

        case unknown = 0
        case notConnected = 1
        case invalidParameter = 2
        case unsupported = 3
        case timedOut = 4
        case cancelled = 5
        case unavailable = 6
    }

    /// The code; `unknown` for a number that has no name.
    public var code: Code { Code(rawValue: _nsError.code) ?? .unknown }

    public static var unknown: Code { .unknown }
    public static var notConnected: Code { .notConnected }
    public static var invalidParameter: Code { .invalidParameter }
    public static var unsupported: Code { .unsupported }
    public static var timedOut: Code { .timedOut }
    public static var cancelled: Code { .cancelled }
    public static var unavailable: Code { .unavailable }
}

@available(swift, obsoleted: 3, renamed: "MCError.Code")
public typealias MCErrorCode = MCError.Code

extension MCError {
    init(_ code: Code, _ sentence: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: sentence])
    }

    init(_ error: NearbyError) {
        self.init(Code(rawValue: error.code.rawValue) ?? .unknown, error.description)
    }

    /// What an operation of `Nearby` threw, or anything below it.
    init(describing error: any Error) {
        switch error {
        case let error as MCError: self = error
        case let error as NearbyError: self.init(error)
        case is CancellationError: self.init(.cancelled, "It was cancelled.")
        default: self.init(.unknown, error.localizedDescription)
        }
    }
}
