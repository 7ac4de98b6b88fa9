import Foundation
import Nearby

/// The domain of every error of this module.
public let MCErrorDomain: String = "MCErrorDomain"

/// What went wrong: a code, and a sentence in `localizedDescription`.
///
/// `catch MCError.notConnected` matches one, `catch let error as MCError` takes it, and so does
/// `catch let error as NSError`. For the last it is an `NSError`, and no structure: on Linux the
/// compiler takes that pattern for one that always fits, and a structure ends the program there.
public final class MCError: NSError, @unchecked Sendable {
    /// What programs tell apart, with the numbers of Apple's framework.
    public enum Code: Int, Sendable {
        /// What has no other code.
        case unknown = 0
        /// A peer is not connected in this session.
        case notConnected = 1
        /// The program asked for what cannot be: the sentence says what can.
        case invalidParameter = 2
        /// This is not offered.
        case unsupported = 3
        /// Nobody answered in time.
        case timedOut = 4
        /// The program, or the other side, thought better of it.
        case cancelled = 5
        /// Not now, or not with this peer: the sentence says what stands in the way.
        case unavailable = 6
    }

    /// An error with a code; its sentence is under `NSLocalizedDescriptionKey`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        super.init(domain: MCErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// From an archive.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// The number of the code: what `code` is to an `NSError`.
    @_disfavoredOverload public override var code: Int { super.code }

    /// As Apple prints errors: domain, number and sentence.
    public override var description: String {
        "Error Domain=\(domain) Code=\(errorCode) \"\(localizedDescription)\""
    }

    /// The number of the code.
    public var errorCode: Int { super.code }
    /// The sentence, and what else the error was made with.
    public var errorUserInfo: [String: Any] { userInfo }
    /// `MCErrorDomain`.
    public static var errorDomain: String { MCErrorDomain }

    /// `Code.unknown`.
    public static var unknown: Code { .unknown }
    /// `Code.notConnected`.
    public static var notConnected: Code { .notConnected }
    /// `Code.invalidParameter`.
    public static var invalidParameter: Code { .invalidParameter }
    /// `Code.unsupported`.
    public static var unsupported: Code { .unsupported }
    /// `Code.timedOut`.
    public static var timedOut: Code { .timedOut }
    /// `Code.cancelled`.
    public static var cancelled: Code { .cancelled }
    /// `Code.unavailable`.
    public static var unavailable: Code { .unavailable }
}

// A class cannot declare a property that its superclass has with another type; a protocol's
// extension can.
extension NSObjectProtocol where Self: MCError {
    /// The code; `unknown` for a number that has no name.
    public var code: MCError.Code { MCError.Code(rawValue: errorCode) ?? .unknown }
}

extension MCError.Code {
    /// For `catch MCError.notConnected`; an `NSError` with the domain and the number matches too.
    public static func ~= (match: Self, error: any Error) -> Bool {
        let error = error as NSError
        return error.domain == MCErrorDomain && error.code == match.rawValue
    }
}

/// What Swift 2 called the codes.
@available(swift, obsoleted: 3, renamed: "MCError.Code")
public typealias MCErrorCode = MCError.Code

extension MCError {
    convenience init(_ code: Code, _ sentence: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: sentence])
    }

    convenience init(_ error: NearbyError) {
        self.init(Code(rawValue: error.code.rawValue) ?? .unknown, error.description)
    }

    /// What an operation of `Nearby` threw, or anything below it.
    convenience init(describing error: any Error) {
        switch error {
        case let error as MCError: self.init(error.code, userInfo: error.userInfo)
        case let error as NearbyError: self.init(error)
        case is CancellationError: self.init(.cancelled, "It was cancelled.")
        default: self.init(.unknown, error.localizedDescription)
        }
    }
}
