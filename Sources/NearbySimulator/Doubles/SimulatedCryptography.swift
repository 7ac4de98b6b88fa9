import NearbyCore
import NearbyEngine

/// Alters what a node is about to seal.
public protocol FrameForger: AnyObject {
    /// What leaves instead of a frame's payload.
    func altered(_ payload: ArraySlice<UInt8>) -> [UInt8]
}

/// The deterministic double of OpenSSL: the same flights, sizes and failures, no secrecy.
public final class SimulatedCryptography: Cryptography {
    public let ownPeer: PeerID
    private var generator: SeededGenerator
    private let cookieKey: UInt64
    private let forger: (any FrameForger)?
    private let certification: Certification?

    /// - Parameters:
    ///   - forger: alters the frames that this node seals.
    ///   - certification: what this node's certificates say; nil: it has none.
    public init(
        peer: PeerID, seed: UInt64, forger: (any FrameForger)? = nil,
        certification: Certification? = nil
    ) {
        ownPeer = peer
        self.certification = certification
        self.forger = forger
        generator = SeededGenerator(seed: seed)
        cookieKey = generator.next()
    }

    public func makeClient(now: Instant) -> any SecureChannel {
        SimulatedHandshake(
            client: ownPeer, certification: certification, random: generator.next(), now: now)
    }

    public func listen(_ datagram: ArraySlice<UInt8>, from source: [UInt8], now: Instant)
        -> ListenOutcome
    {
        guard let record = SimulatedRecord(parsing: datagram) else {
            return .dropped(.handshakeMalformed)
        }
        var hash = SimulatedHash()
        hash.add(source)
        hash.add(cookieKey)
        let cookie = hash.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
        switch record.step {
        case .hello:
            return .reply(
                SimulatedRecord(.cookie, random: cookie, peer: PeerID(high: 0, low: 0)).bytes)
        case .helloWithCookie where record.cookie == cookie:
            return .accepted(
                SimulatedHandshake(
                    server: ownPeer, certification: certification, random: generator.next(),
                    hello: record, now: now))
        default:
            return .dropped(.handshakeUnknown)
        }
    }

    public func makeCipher(key: ArraySlice<UInt8>, iv: ArraySlice<UInt8>) -> any FrameCipher {
        SimulatedCipher(key: Array(key + iv), forger: forger)
    }

    public func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var hash = SimulatedHash()
        hash.add(key)
        hash.add(message)
        return hash.bytes(32)
    }

    public func deriveKey(from secret: [UInt8], purpose: String) -> [UInt8] {
        hmac(key: secret, Array(purpose.utf8))
    }

    public func sha256(_ message: [UInt8]) -> [UInt8] { hmac(key: [], message) }

    public func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 32) }
    }

    public func constantTimeEquals(
        _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
    ) -> Bool {
        left.elementsEqual(right)
    }
}

/// Leaves the payload readable and appends a keyed sum: detects every change, hides nothing.
final class SimulatedCipher: FrameCipher {
    private let key: [UInt8]
    private let forger: (any FrameForger)?

    init(key: [UInt8], forger: (any FrameForger)?) {
        self.key = key
        self.forger = forger
    }

    func seal(_ frame: inout [UInt8], headerByteCount: Int, sequence: UInt64, encrypted: Bool) {
        if let forger {
            frame = frame.prefix(headerByteCount) + forger.altered(frame[headerByteCount...])
        }
        frame += tag(frame, sequence, encrypted)
    }

    func open(_ frame: inout [UInt8], headerByteCount: Int, sequence: UInt64, encrypted: Bool)
        -> Bool
    {
        guard frame.count >= headerByteCount + frameTagByteCount else { return false }
        let sum = Array(frame.suffix(frameTagByteCount))
        frame.removeLast(frameTagByteCount)
        return sum == tag(frame, sequence, encrypted)
    }

    private func tag(_ frame: [UInt8], _ sequence: UInt64, _ encrypted: Bool) -> [UInt8] {
        var hash = SimulatedHash()
        hash.add(key)
        hash.add(sequence << 1 | (encrypted ? 1 : 0))
        hash.add(frame)
        return hash.bytes(frameTagByteCount)
    }
}
