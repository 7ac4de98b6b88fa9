import COpenSSL
import NearbyGroups

/// Judges signatures and chains of certificates, which come from outside.
public struct CertificateCheck: ProofVerifier {
    public init() {}

    public func isValid(_ proof: [UInt8], of bytes: [UInt8], by certificate: [UInt8]) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let certificate = Self.parse(certificate) else { return false }
        defer { X509_free(certificate) }
        guard let key = X509_get0_pubkey(certificate), let context = EVP_MD_CTX_new() else {
            return false
        }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, digest(for: key), nil, key) == 1
            && EVP_DigestVerify(context, proof, proof.count, bytes, bytes.count) == 1
    }

    /// Whether a chain (DER, the member's own certificate first) leads to one of the anchors, with
    /// X.509's basic policy: signatures, names, constraints, and today's date within all of them.
    /// An anchor may be any certificate, also one that another has signed.
    public static func isTrusted(_ chain: [[UInt8]], anchors: [[UInt8]]) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let chain = chain.map(parse)
        let anchors = anchors.compactMap(parse)
        defer {
            anchors.forEach(X509_free)
            chain.forEach(X509_free)
        }
        guard let own = chain.first ?? nil, let store = X509_STORE_new() else { return false }
        defer { X509_STORE_free(store) }
        for anchor in anchors { X509_STORE_add_cert(store, anchor) }
        guard let others = OPENSSL_sk_new_null() else { return false }
        defer { OPENSSL_sk_free(others) }
        for certificate in chain.dropFirst() {
            guard let certificate else { return false }
            OPENSSL_sk_push(others, UnsafeRawPointer(certificate))
        }
        guard let context = X509_STORE_CTX_new() else { return false }
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, store, own, others) == 1 else { return false }
        X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        return X509_verify_cert(context) == 1
    }

    private static func parse(_ der: [UInt8]) -> OpaquePointer? {
        der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_X509(nil, &start, buffer.count)
        }
    }
}
