import NearbyCore

/// A handshake in progress: bytes in, bytes out, a deadline, and in the end keys. No descriptor, no
/// thread.
///
/// `NearbyDTLS` conforms with OpenSSL; the simulator with a deterministic double of the same
/// flights, sizes and failures. The object is dropped as soon as the keys are in use.
public protocol SecureChannel: AnyObject {
    /// Takes one datagram of DTLS records (no envelope). What is malformed, forged or out of place
    /// is dropped and counted in `drops`; it never ends an attempt by itself.
    func receive(_ datagram: ArraySlice<UInt8>, now: Instant)
    /// Retransmits if it is time; harmless when early or repeated.
    func deadlineReached(now: Instant)
    /// When `deadlineReached` wants to be called.
    var nextDeadline: Instant? { get }
    /// The datagrams to transmit now, each at most the MTU given at creation; empties the list.
    func takeOutgoing() -> [[UInt8]]
    var state: HandshakeState { get }
    /// Drops since the last call; empties the counters.
    func takeDrops() -> DropCounters
}

public enum HandshakeState: Equatable, Sendable {
    case running
    case finished(HandshakeResult)
    /// The attempt is over; a fresh one may follow. The text is for people.
    case failed(DropReason, String)
}

/// What a finished handshake proves and gives.
public struct HandshakeResult: Equatable, Sendable {
    /// From the other side's certificate: SHA-256 over its SubjectPublicKeyInfo, first 16 bytes.
    public let peer: PeerID
    /// 128 bytes of keying material (RFC 5705), equal on both sides, secret.
    public let exporter: [UInt8]
    /// Nil where no anchors were given, or no certificate leads to one.
    public let certification: Certification?

    public init(peer: PeerID, exporter: [UInt8], certification: Certification? = nil) {
        self.peer = peer
        self.exporter = exporter
        self.certification = certification
    }

    public static let exporterByteCount = 128
}

/// What a stateless listener does with a datagram from an address that has no handshake.
public enum ListenOutcome {
    /// Send this back (a cookie request); nothing was kept.
    case reply([UInt8])
    /// The address proved itself: go on with this.
    case accepted(any SecureChannel)
    case dropped(DropReason)
}

/// Everything cryptographic that the engine needs: one object a node, used on its thread only.
public protocol Cryptography: AnyObject {
    /// The PeerID of this node's own key.
    var ownPeer: PeerID { get }
    /// A new handshake as client; its first flight waits in `takeOutgoing`.
    func makeClient(now: Instant) -> any SecureChannel
    /// `source` is a stable byte form of the sender's address: it goes into the cookie.
    func listen(_ datagram: ArraySlice<UInt8>, from source: [UInt8], now: Instant) -> ListenOutcome
    /// ChaCha20-Poly1305 with a 32-byte key and a 12-byte IV.
    func makeCipher(key: ArraySlice<UInt8>, iv: ArraySlice<UInt8>) -> any FrameCipher
    /// HMAC-SHA-256, 32 bytes.
    func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8]
    /// HKDF-SHA-256 (RFC 5869) without salt, 32 bytes.
    func deriveKey(from secret: [UInt8], purpose: String) -> [UInt8]
    /// SHA-256, 32 bytes.
    func sha256(_ message: [UInt8]) -> [UInt8]
    /// From the operating system's generator; from the seed in the simulator.
    func randomBytes(_ count: Int) -> [UInt8]
    /// In time that depends on the lengths only.
    func constantTimeEquals(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool
}

/// One direction of a channel. The nonce is the IV with the 64-bit sequence xored into its last 8
/// bytes (RFC 8446 §5.3); a sequence is never used twice with one key.
public protocol FrameCipher: AnyObject {
    /// `frame` is header and payload. Encrypts the payload in place (header is associated data) and
    /// appends the 16-byte tag; with `encrypted` false the payload stays readable and is associated
    /// data too.
    func seal(_ frame: inout [UInt8], headerByteCount: Int, sequence: UInt64, encrypted: Bool)
    /// The inverse; removes the tag. False, with `frame` in an unspecified state, if it was not
    /// authentic.
    func open(_ frame: inout [UInt8], headerByteCount: Int, sequence: UInt64, encrypted: Bool)
        -> Bool
}

/// The tag that ChaCha20-Poly1305 appends, bytes.
public let frameTagByteCount = 16
