import Nearby

/// Where a peer stands in a session.
public enum MCSessionState: Int, Sendable {
    case notConnected = 0
    case connecting = 1
    case connected = 2

    init(_ state: Session.State) {
        switch state {
        case .notConnected: self = .notConnected
        case .connecting: self = .connecting
        case .connected: self = .connected
        }
    }
}

/// How a message travels: `reliable` ones are queued, sent again until they arrive, and come in
/// order; `unreliable` ones go at once and may be lost or overtaken.
public enum MCSessionSendDataMode: Int, Sendable {
    case reliable = 0
    case unreliable = 1
}

/// Whether a session's traffic is encrypted. None and required refuse each other; none with none
/// or optional is plain; all else is encrypted.
public enum MCEncryptionPreference: Int, Sendable {
    case optional = 0
    case required = 1
    case none = 2

    var nearby: EncryptionPreference {
        switch self {
        case .optional: .optional
        case .required: .required
        case .none: .none
        }
    }
}

/// The least number of peers of a session, oneself included.
public let kMCSessionMinimumNumberOfPeers: Int = 2

/// The greatest number of peers that `MCBrowserViewController` invites to by itself, oneself
/// included. Apple's sessions hold no more; ours do.
public let kMCSessionMaximumNumberOfPeers: Int = 8
