import COpenSSL
import NearbyCore
import NearbyEngine

/// The engine's `Cryptography` through OpenSSL 3. One a node, used on its thread only.
public final class OpenSSLCryptography: Cryptography {
    public let ownPeer: PeerID
    let context: DTLSContext
    private let address: OpaquePointer
    private var listener: DTLSListener

    public convenience init(identity: NodeIdentity) {
        self.init(key: identity.key, authority: identity.authority)
    }

    init(key: KeyPair, authority: Authority? = nil) {
        ownPeer = key.peer
        context = DTLSContext(key: key, authority: authority)
        guard let address = BIO_ADDR_new() else {
            preconditionFailure("BIO_ADDR_new: out of memory")
        }
        self.address = address
        listener = DTLSListener(context: context, cookieKey: Self.random(32), address: address)
    }

    deinit { BIO_ADDR_free(address) }

    public func makeClient(now: Instant) -> any SecureChannel {
        DTLSHandshake(clientIn: context, now: now)
    }

    public func listen(
        _ datagram: ArraySlice<UInt8>, from source: [UInt8], now: Instant
    ) -> ListenOutcome {
        listener.listen(datagram, from: source, now: now)
    }

    public func makeCipher(key: ArraySlice<UInt8>, iv: ArraySlice<UInt8>) -> any FrameCipher {
        ChaChaCipher(key: key, iv: iv)
    }

    public func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] { Digest.hmac(key: key, message) }

    public func deriveKey(from secret: [UInt8], purpose: String) -> [UInt8] {
        Digest.deriveKey(from: secret, info: Array(purpose.utf8))
    }

    public func sha256(_ message: [UInt8]) -> [UInt8] {
        message.withUnsafeBytes { Digest.sha256($0) }
    }

    public func randomBytes(_ count: Int) -> [UInt8] { Self.random(count) }

    public func constantTimeEquals(
        _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
    ) -> Bool {
        let (left, right) = (Array(left), Array(right))
        return left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    private static func random(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "no randomness")
            filled = count
        }
    }
}
