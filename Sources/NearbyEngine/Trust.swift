import NearbyCore
import NearbyWire

/// Who may be here: what a key, a certificate and a proof of the secret are good for.
struct Trust: Sendable {
    /// Admission keys derived from the network's secrets: the first is used, all are accepted.
    /// Empty: no secret is asked for.
    var keys: [[UInt8]]
    var membership: Membership

    init(keys: [[UInt8]], membership: Membership = .open) {
        self.keys = keys
        self.membership = membership
    }

    /// Everybody with a key of his own.
    static let any = Trust(keys: [])

    static func secret(keys: [[UInt8]]) -> Trust { Trust(keys: keys) }
}

/// Whose key is good enough, before any secret is asked for.
public enum Membership: Sendable {
    /// Everybody's.
    case open
    /// Only those of these peers.
    case listed(Set<PeerID>)
    /// Those of peers whose certificates lead to one of our anchors and are within their dates.
    case certified

    /// Whether a peer may be dialled: certificates show in the handshake only.
    func mayAdmit(_ peer: PeerID) -> Bool {
        if case .listed(let peers) = self { peers.contains(peer) } else { true }
    }
}

/// What a peer's certificates say, once they are known to lead to one of our anchors.
public struct Certification: Sendable, Equatable {
    /// A bit for each role that its own certificate names.
    private var roles: UInt8 = 0
    /// Seconds since 1970 UTC: from here to `notAfter` all certificates of the chain are valid.
    public var notBefore: Int64
    public var notAfter: Int64

    public init(notBefore: Int64, notAfter: Int64) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// Takes one of the subject alternative names that are URIs; others than roles mean nothing.
    public mutating func add(uri: String) {
        for role in Role.allCases where uri == Self.uri(of: role) { add(role) }
    }

    public mutating func add(_ role: Role) { roles |= 1 << role.rawValue }

    public func names(_ role: Role) -> Bool { roles & 1 << role.rawValue != 0 }

    /// By which a certificate names a role: `rivulet:role:collector`.
    public static func uri(of role: Role) -> String { "rivulet:role:\(role)" }

    /// - Parameter unixTime: seconds since 1970 UTC.
    public func isValid(at unixTime: Int64) -> Bool {
        notBefore <= unixTime && unixTime <= notAfter
    }

    /// Whether a peer may be this. Who takes readings needs a certificate that says so, and a
    /// collector may also look in; everybody with a certificate may measure and forward.
    public func permits(_ role: Role) -> Bool {
        !role.collects || names(role) || role == .viewer && names(.collector)
    }
}

/// How a peer stands by its key and its certificates, before it has said anything.
struct Standing {
    /// Why it is not let in, whatever it proves.
    var refusal: DropReason?
    /// Its dates could not be checked.
    var isUndated = false
    /// What it may say that it is is limited by this; nil: by nothing.
    var certification: Certification?

    /// - Parameter unixTime: seconds since 1970 UTC; nil while our clock may be wrong.
    init(
        _ peer: PeerID, _ certification: Certification?, under membership: Membership,
        unixTime: Int64?
    ) {
        guard case .certified = membership else {
            refusal = membership.mayAdmit(peer) ? nil : .admissionNotListed
            return
        }
        guard let certification else {
            refusal = .admissionCertificate
            return
        }
        self.certification = certification
        isUndated = unixTime == nil
        if let unixTime, !certification.isValid(at: unixTime) { refusal = .certificateExpired }
    }

    /// Why a peer that says that it is this is not let in.
    func refusal(of role: Role) -> DropReason? {
        if let refusal { return refusal }
        return certification?.permits(role) ?? true ? nil : .admissionRole
    }
}
