import COpenSSL
import DurableFiles
import NearbyCore
import NearbyEngine

/// `trust: authority`: the anchors that every certificate must lead to, and the certificates that
/// this node shows for its own key.
///
/// Chains are checked by OpenSSL, without dates: a board's clock may say anything, so the engine
/// checks those once the clock is known to be right.
public final class Authority {
    /// Of our own certificates.
    public let certification: Certification
    /// Ours first, then those that lead to an anchor, the anchor left out.
    let chain: [Certificate]
    /// An X509_STORE.
    let store: OpaquePointer

    private init(_ store: OpaquePointer, _ chain: [Certificate], _ certification: Certification) {
        self.store = store
        self.chain = chain
        self.certification = certification
    }

    deinit { X509_STORE_free(store) }

    /// Reads the anchors and the chain for the identity's key, both PEM.
    ///
    /// - Parameter content: the chain, if it is not in its file yet.
    public static func load(
        anchors anchorsPath: String, certificate path: String, content: [UInt8]? = nil,
        for identity: Identity, through files: some FileOperations = SystemFiles()
    ) throws(AuthorityError) -> Authority {
        let anchors = try parse(
            try read(anchorsPath, files), anchorsPath, limit: Limits.anchorsMax)
        for (index, anchor) in anchors.enumerated() where !anchor.isAuthority {
            throw .notAnAuthority(path: anchorsPath, number: index + 1)
        }
        let bytes = if let content { content } else { try read(path, files) }
        // An anchor at its end is left out.
        let chain = try parse(
            bytes, path, limit: Limits.chainLengthMax + Limits.anchorsMax
        ).filter { link in !anchors.contains { $0.isEqual(to: link) } }
        guard let own = chain.first else { throw .notAChain(path: path) }
        guard own.peer == identity.peer else {
            throw .otherKey(path: path, own.peer, own: identity.peer)
        }
        guard chain.count <= Limits.chainLengthMax,
            chain.reduce(0, { $0 + $1.byteCount + 3 }) <= Limits.certificateListBytesMax - 3
        else { throw .chainTooLong(path: path) }
        guard let store = X509_STORE_new() else {
            preconditionFailure("X509_STORE_new: out of memory")
        }
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_PARTIAL_CHAIN))
        X509_STORE_set_depth(store, Int32(Limits.chainLengthMax))
        for anchor in anchors { X509_STORE_add_cert(store, anchor.pointer) }
        switch verify(chain, in: store) {
        case .success(let certification): return Authority(store, chain, certification)
        case .failure(let refusal):
            X509_STORE_free(store)
            throw .notLeading(path: path, anchors: anchorsPath, why: refusal.text)
        }
    }

    private static func read(
        _ path: String, _ files: some FileOperations
    ) throws(AuthorityError) -> [UInt8] {
        let bytes: [UInt8]?
        do {
            bytes = try AtomicFile.read(path, limit: Limits.certificateFileBytesMax, through: files)
        } catch {
            throw .unreadable(path: path, error)
        }
        guard let bytes else { throw .missing(path: path) }
        return bytes
    }

    private static func parse(
        _ bytes: [UInt8], _ path: String, limit: Int
    ) throws(AuthorityError) -> [Certificate] {
        guard let certificates = Certificate.parse(pem: bytes, limit: limit),
            !certificates.isEmpty
        else { throw .notPEM(path: path) }
        guard certificates.count <= limit else { throw .tooMany(path: path, limit: limit) }
        return certificates
    }

    private struct Refusal: Error { let text: String }

    /// As others will see it: we are client and server.
    private static func verify(
        _ chain: [Certificate], in store: OpaquePointer
    ) -> Result<Certification, Refusal> {
        guard let untrusted = OPENSSL_sk_new_null(), let context = X509_STORE_CTX_new(),
            let settings = SSL_CTX_new(DTLS_method())
        else { preconditionFailure("OpenSSL: out of memory") }
        defer {
            OPENSSL_sk_free(untrusted)
            X509_STORE_CTX_free(context)
            SSL_CTX_free(settings)
            ERR_clear_error()
        }
        for link in chain { OPENSSL_sk_push(untrusted, UnsafeRawPointer(link.pointer)) }
        var certification: Certification?
        for purpose in [X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER] {
            X509_STORE_CTX_init(context, store, chain[0].pointer, untrusted)
            X509_STORE_CTX_set_purpose(context, purpose)
            X509_VERIFY_PARAM_set_auth_level(
                X509_STORE_CTX_get0_param(context), SSL_CTX_get_security_level(settings))
            guard X509_verify_cert(context) == 1 else {
                return .failure(Refusal(text: refusal(of: context)))
            }
            certification = Certification(verified: context)
            X509_STORE_CTX_cleanup(context)
        }
        return certification.map { .success($0) } ?? .failure(Refusal(text: "unreadable dates"))
    }

    /// Our chain as PEM text.
    public var pem: [UInt8] {
        guard let bio = BIO_new(BIO_s_mem()) else { preconditionFailure("BIO_new: out of memory") }
        defer { BIO_free(bio) }
        precondition(
            chain.allSatisfy { PEM_write_bio_X509(bio, $0.pointer) == 1 },
            "OpenSSL could not write our certificates")
        return KeyPair.content(of: bio)
    }

    /// Why X509_verify_cert failed.
    static func refusal(of context: OpaquePointer) -> String {
        X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(context)))
            .map { String(cString: $0) } ?? "not verified"
    }

    /// Has a context show our chain, and check those of others.
    func apply(to context: OpaquePointer) -> Bool {
        // The context takes a reference.
        X509_STORE_up_ref(store)
        SSL_CTX_set_cert_store(context, store)
        // Otherwise the anchor would be sent along.
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_NO_AUTO_CHAIN), nil)
        return SSL_CTX_use_certificate(context, chain[0].pointer) == 1
            && chain.dropFirst().allSatisfy {
                SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer($0.pointer))
                    == 1
            }
    }
}

extension Limits {
    /// Certificates that a node shows, its own among them. They also have to fit into
    /// `certificateListBytesMax`.
    public static let chainLengthMax = 4
    /// Certificates of authorities in one file.
    public static let anchorsMax = 16
    static let certificateFileBytesMax = 65_536
}
