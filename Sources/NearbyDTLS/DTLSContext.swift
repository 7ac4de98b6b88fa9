import COpenSSL
import NearbyCore
import NearbyEngine

extension Limits {
    /// The largest datagram of DTLS records, bytes: 1,100 with our envelope, on any path.
    static let handshakeRecordBytesMax = 1_060
    /// The most bytes of certificates that the other side may make us hold before it is proved.
    static let certificateListBytesMax = 4_096
    /// The first retransmission of a flight; each further one waits twice as long, up to the
    /// longest. With 4 s for the longest, 1,000 handshakes at 30 % loss both ways had a p99 of
    /// 13.7 s, with 1 s of 5.7 s.
    static let retransmissionFirst = Duration.milliseconds(100)
    static let retransmissionLongest = Duration.seconds(1)
}

/// The settings that all our associations share: an SSL_CTX and the BIO_METHOD.
///
/// DTLS 1.2 alone (later versions of OpenSSL default to 1.3), AEAD suites with ECDSA, P-256
/// certificates on both sides, nothing resumed, nothing renegotiated.
final class DTLSContext {
    let pointer: OpaquePointer
    let method: OpaquePointer

    /// - Parameter authority: whose certificates are shown and asked for; nil: any will do.
    init(key: KeyPair, authority: Authority?) {
        ERR_clear_error()
        guard let pointer = SSL_CTX_new(DTLS_method()) else {
            preconditionFailure("SSL_CTX_new: out of memory")
        }
        self.pointer = pointer
        method = DatagramBIO.makeMethod()
        shim_SSL_CTX_set_options(pointer)
        shim_SSL_CTX_disable_session_cache(pointer)
        shim_SSL_CTX_set_max_cert_list(pointer, Limits.certificateListBytesMax)
        let suites = "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256"
        precondition(
            shim_SSL_CTX_require_DTLS_1_2(pointer) == 1
                && SSL_CTX_set_cipher_list(pointer, suites) == 1
                && shim_SSL_CTX_set1_groups_list(pointer, "X25519:P-256") == 1
                && shim_SSL_CTX_set1_sigalgs_list(pointer, "ECDSA+SHA256") == 1,
            "this OpenSSL lacks DTLS 1.2 with ECDHE-ECDSA")
        precondition(
            authority?.apply(to: pointer)
                ?? (SSL_CTX_use_certificate(pointer, key.certificate) == 1)
                && SSL_CTX_use_PrivateKey(pointer, key.privateKey) == 1,
            "OpenSSL refuses our own certificate")
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        // It replaces all of OpenSSL's checks: no dates, and no chain where there is no authority.
        // Who the key belongs to is for admission.
        let checksChains = authority.map { Unmanaged.passUnretained($0).toOpaque() }
        SSL_CTX_set_cert_verify_callback(
            pointer, { verify($0, checksChain: $1 != nil) }, checksChains)
        SSL_CTX_set_cookie_generate_cb(pointer) { ssl, cookie, count in
            guard let right = DatagramBIO.of(ssl)?.cookies.first, let cookie, let count else {
                return 0
            }
            for (index, byte) in right.enumerated() { cookie[index] = byte }
            count.pointee = UInt32(right.count)
            return 1
        }
        SSL_CTX_set_cookie_verify_cb(pointer) { ssl, cookie, count in
            guard let cookies = DatagramBIO.of(ssl)?.cookies, let cookie else { return 0 }
            return cookies.contains {
                $0.count == Int(count) && CRYPTO_memcmp($0, cookie, $0.count) == 0
            } ? 1 : 0
        }
    }

    deinit {
        SSL_CTX_free(pointer)
        BIO_meth_free(method)
    }
}

/// An SSL object with its wire.
final class DTLSAssociation {
    let ssl: OpaquePointer
    let wire = DatagramBIO()
    private let context: DTLSContext

    init(_ context: DTLSContext) {
        self.context = context
        guard let ssl = SSL_new(context.pointer), let bio = BIO_new(context.method) else {
            preconditionFailure("SSL_new: out of memory")
        }
        self.ssl = ssl
        BIO_set_data(bio, Unmanaged.passUnretained(wire).toOpaque())
        SSL_set_bio(ssl, bio, bio)
        shim_SSL_set_mtu(ssl, Limits.handshakeRecordBytesMax)
        DTLS_set_timer_cb(ssl) { _, microseconds in nextTimeout(after: microseconds) }
    }

    deinit { SSL_free(ssl) }

    /// The datagrams written since the last call.
    func takeOutput() -> [[UInt8]] {
        defer { wire.output = [] }
        return wire.output
    }
}

/// How long OpenSSL waits before it sends a flight again, microseconds; `last` is 0 for a new
/// flight.
private func nextTimeout(after last: UInt32) -> UInt32 {
    let first = UInt32(Limits.retransmissionFirst.nanoseconds / 1_000)
    let longest = UInt32(Limits.retransmissionLongest.nanoseconds / 1_000)
    return last == 0 ? first : min(last &* 2, longest)
}

/// SSL_CTX_set_cert_verify_callback's function: 1 for a certificate with a P-256 key, else 0 and
/// the reason.
private func verify(_ store: OpaquePointer?, checksChain: Bool) -> Int32 {
    let ssl = store.flatMap { X509_STORE_CTX_get_ex_data($0, SSL_get_ex_data_X509_STORE_CTX_idx()) }
    let wire = DatagramBIO.of(ssl.map { OpaquePointer($0) })
    guard let certificate = store.flatMap({ X509_STORE_CTX_get0_cert($0) }) else {
        wire?.certificateRefusal = "no certificate"
        return 0
    }
    guard let key = X509_get0_pubkey(certificate), KeyPair.isP256(key) else {
        wire?.certificateRefusal = "the certificate's key is not P-256"
        X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
        return 0
    }
    X509_STORE_CTX_set_error(store, X509_V_OK)
    guard checksChain, let store else { return 1 }
    guard X509_verify_cert(store) == 1 else {
        let name = KeyPair.peer(of: certificate).map { "\($0)" } ?? "nobody"
        wire?.certificateRefusal =
            "the certificate of \(name) does not lead to our authority: "
            + Authority.refusal(of: store)
        return 0
    }
    wire?.certification = Certification(verified: store)
    return 1
}
