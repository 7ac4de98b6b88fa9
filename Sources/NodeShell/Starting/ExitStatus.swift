import Configuration
import DurableFiles
import Glibc
import NearbyDTLS
import NearbyLinux

/// With what both programs end, as in sysexits.h.
public enum ExitStatus: Int32, Sendable {
    case good = 0
    /// The command line is wrong.
    case usage = 64
    /// A file is not what it should be.
    case data = 65
    /// A file does not exist or cannot be read.
    case noInput = 66
    /// What is needed is not there: a node that does not run, a port that somebody else has.
    case unavailable = 69
    /// We have a fault.
    case software = 70
    /// A file cannot be made.
    case cannotCreate = 73
    /// Reading or writing failed.
    case inputOutput = 74
    /// It may go well the next time.
    case tryAgain = 75
    case notPermitted = 77
    /// The configuration is wrong.
    case configuration = 78

    /// What an error of ours, or of a system call, comes to.
    public init(_ error: any Error) {
        switch error {
        case let error as StartError: self = error.status
        case let error as SystemError: self.init(code: error.code)
        case let error as FileError: self.init(code: error.code)
        case TransportError.portInUse, TransportError.noInternetProtocol: self = .unavailable
        case TransportError.portNotPermitted: self = .notPermitted
        case TransportError.system(let error): self.init(code: error.code)
        case let error as ControlError: self.init(error)
        case let error as IdentityError: self.init(error)
        default: self = .inputOutput
        }
    }

    /// What mistakes in a configuration come to: that it cannot be read, or that it is wrong.
    public init(_ mistakes: [Mistake]) {
        let code = mistakes.first?.systemCode ?? 0
        self = code == 0 ? .configuration : ExitStatus(code: code)
    }

    /// - Parameter code: errno's.
    public init(code: Int32) {
        self =
            switch code {
            case EACCES, EPERM: .notPermitted
            case ENOENT, ENOTDIR, EISDIR: .noInput
            case EFBIG: .data
            case EROFS, ENOSPC, EDQUOT, EEXIST: .cannotCreate
            case EAGAIN, EBUSY, EMFILE, ENFILE, ENOMEM, ETIMEDOUT: .tryAgain
            case EADDRINUSE, EADDRNOTAVAIL, ENODEV, ENXIO, ECONNREFUSED: .unavailable
            default: .inputOutput
            }
    }

    private init(_ error: ControlError) {
        switch error {
        case .noAgent, .alreadyServed: self = .unavailable
        case .notPermitted: self = .notPermitted
        case .notASocket, .noSocket, .badPath: self = .usage
        case .timedOut, .connectionClosed: self = .tryAgain
        case .replyTooLong: self = .data
        case .system(let error), .noDirectory(_, let error): self.init(code: error.code)
        }
    }

    private init(_ error: IdentityError) {
        switch error {
        case .damaged: self = .data
        case .unreadable(_, let error): self.init(code: error.code)
        case .open: self = .notPermitted
        case .missing, .noKey: self = .noInput
        case .foreign: self = .configuration
        }
    }
}
