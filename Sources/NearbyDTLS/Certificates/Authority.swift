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
    public private(set) var certification: Certification
    /// Ours first, then those that lead to an anchor, the anchor left out.
    package let chain: [Certificate]
    /// An X509_STORE.
    let store: OpaquePointer

    private init(_ store: OpaquePointer, _ chain: [Certificate]) {
        self.store = store
        self.chain = chain
        certification = Certification(notBefore: .max, notAfter: .min)
    }

    deinit { X509_STORE_free(store) }

    /// Reads the anchors and the chain for the identity's key, both PEM.
    ///
    /// - Parameter content: the chain, if it is not in its file yet.
    public static func load(
        anchors anchorsPath: String, certificate path: String, content: [UInt8]? = nil,
        for identity: NodeIdentity
    ) throws(AuthorityError) -> Authority {
        let anchors = try parse(read(anchorsPath), anchorsPath)
        guard anchors.allSatisfy(\.isAuthority) else {
            throw AuthorityError(anchorsPath, "holds a certificate of no authority (CA:TRUE)")
        }
        let bytes = if let content { content } else { try read(path) }
        // An anchor at its end is left out.
        let chain = try parse(bytes, path).filter { link in
            !anchors.contains { $0.isEqual(to: link) }
        }
        guard let own = chain.first, own.peer == identity.peer else {
            let peer = chain.first?.peer.map { "\($0)" } ?? "the authority"
            throw AuthorityError(
                path, "is for the key of \(peer), and this node is \(identity.peer)")
        }
        guard chain.count <= Limits.chainLengthMax,
            chain.reduce(3, { $0 + $1.byteCount + 3 }) <= Limits.certificateListBytesMax
        else {
            throw AuthorityError(
                path,
                "is too long a chain: at most \(Limits.chainLengthMax) certificates and "
                    + "\(Limits.certificateListBytesMax) bytes")
        }
        guard let store = X509_STORE_new() else {
            preconditionFailure("X509_STORE_new: out of memory")
        }
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_PARTIAL_CHAIN))
        X509_STORE_set_depth(store, Int32(Limits.chainLengthMax))
        for anchor in anchors { X509_STORE_add_cert(store, anchor.pointer) }
        let authority = Authority(store, chain)
        if let refusal = authority.verifyOwn() {
            throw AuthorityError(path, "does not lead to \(anchorsPath): \(refusal)")
        }
        return authority
    }

    private static func read(_ path: String) throws(AuthorityError) -> [UInt8] {
        do {
            let limit = Limits.certificateFileBytesMax
            if let bytes = try AtomicFile.read(path, limit: limit, through: SystemFiles()) {
                return bytes
            }
        } catch {
            throw AuthorityError(path, "\(error)")
        }
        throw AuthorityError(path, "is not there (`rivulet identity --help`)")
    }

    private static func parse(
        _ bytes: [UInt8], _ path: String
    ) throws(AuthorityError) -> [Certificate] {
        guard let certificates = Certificate.parse(pem: bytes, limit: Limits.certificatesMax),
            !certificates.isEmpty
        else {
            throw AuthorityError(
                path, "has no readable certificates, or over \(Limits.certificatesMax)")
        }
        return certificates
    }

    /// Checks our chain as others will: we are client and server. Why they would refuse it; nil if
    /// they would not.
    private func verifyOwn() -> String? {
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
        for purpose in [X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER] {
            X509_STORE_CTX_init(context, store, chain[0].pointer, untrusted)
            X509_STORE_CTX_set_purpose(context, purpose)
            X509_VERIFY_PARAM_set_auth_level(
                X509_STORE_CTX_get0_param(context), SSL_CTX_get_security_level(settings))
            guard X509_verify_cert(context) == 1 else { return Self.refusal(of: context) }
            certification = Certification(verified: context)
            X509_STORE_CTX_cleanup(context)
        }
        return nil
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
    static let chainLengthMax = 4
    /// In one file.
    static let certificatesMax = 16
    static let certificateFileBytesMax = 65_536
}

/// What is wrong with the files of `trust: authority`, for people.
public struct AuthorityError: Error, CustomStringConvertible {
    public let description: String

    init(_ path: String, _ text: String) { description = path + " " + text }
}
