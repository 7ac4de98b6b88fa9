import COpenSSL
import NearbyDTLS

/// What an authority signs (PKCS #10, RFC 2986): this node's public key, its name, and what it is
/// to be.
public enum CertificateRequest {
    /// PEM text.
    ///
    /// - Parameters:
    ///   - name: the common name; of more than 64 bytes as many as fit.
    ///   - uris: subject alternative names that are asked for.
    public static func pem(for identity: NodeIdentity, name: String, uris: [String]) -> [UInt8] {
        guard let request = X509_REQ_new(), let bio = BIO_new(BIO_s_mem()) else {
            preconditionFailure("OpenSSL: out of memory")
        }
        defer {
            X509_REQ_free(request)
            BIO_free(bio)
        }
        let subject = X509_REQ_get_subject_name(request)
        // ub-common-name, RFC 5280 appendix A.1, counts characters; OpenSSL agrees.
        let text = String(name.prefix(64))
        let done =
            X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1
            && X509_REQ_set_pubkey(request, identity.key.privateKey) == 1
            && add(uris, to: request)
            && X509_REQ_sign(request, identity.key.privateKey, EVP_sha256()) > 0
            && PEM_write_bio_X509_REQ(bio, request) == 1
        precondition(done, "OpenSSL could not make a request")
        return KeyPair.content(of: bio)
    }

    private static func add(_ uris: [String], to request: OpaquePointer) -> Bool {
        guard !uris.isEmpty else { return true }
        let value = uris.map { "URI:" + $0 }.joined(separator: ",")
        guard let names = X509V3_EXT_conf_nid(nil, nil, NID_subject_alt_name, value),
            let extensions = OPENSSL_sk_new_null()
        else { return false }
        defer {
            X509_EXTENSION_free(names)
            OPENSSL_sk_free(extensions)
        }
        OPENSSL_sk_push(extensions, UnsafeRawPointer(names))
        return X509_REQ_add_extensions(request, extensions) == 1
    }
}

extension Authority {
    /// Our chain as PEM text.
    public var pem: [UInt8] {
        guard let bio = BIO_new(BIO_s_mem()) else { preconditionFailure("BIO_new: out of memory") }
        defer { BIO_free(bio) }
        precondition(
            chain.allSatisfy { PEM_write_bio_X509(bio, $0.pointer) == 1 },
            "OpenSSL could not write our certificates")
        return KeyPair.content(of: bio)
    }
}
