import Nearby

/// Where a peer stands in a session.
public enum MCSessionState: Int, Sendable {
    /// Not a member: never, no longer, or the attempt has failed.
    case notConnected = 0
    /// Invited, or about to be a member.
    case connecting = 1
    /// A member, on both sides.
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
    /// Queued, sent again until it arrives, in order.
    case reliable = 0
    /// At once, not queued; may be lost or overtaken.
    case unreliable = 1
}

/// Whether a session's traffic is encrypted. None and required refuse each other; none with none
/// or optional is plain; all else is encrypted.
public enum MCEncryptionPreference: Int, Sendable {
    /// Encrypted, but with peers that say none.
    case optional = 0
    /// Encrypted, or not connected.
    case required = 1
    /// Legible to all.
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
