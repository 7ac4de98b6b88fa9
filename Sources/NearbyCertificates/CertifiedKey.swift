import COpenSSL

/// Certificates with the private key of the first of them: what vouches for a member of a session.
public struct CertifiedKey: Sendable {
    public enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        case noPrivateKey
        case noCertificate
        /// None of the certificates belongs to the key, or the key is damaged.
        case mismatch
        case notPKCS12
        /// The password is wrong, or the file uses a cipher that OpenSSL no longer opens.
        case notOpened

        public var description: String {
            switch self {
            case .noPrivateKey: "there is no readable private key (PEM, not encrypted)"
            case .noCertificate: "there is no readable certificate"
            case .mismatch: "none of the certificates belongs to the private key, or it is damaged"
            case .notPKCS12: "these bytes are no PKCS#12 file"
            case .notOpened:
                "the file does not open: the password is wrong, or it was made with a cipher of "
                    + "the past (make it anew with `openssl pkcs12 -export`)"
            }
        }
    }

    /// DER, that of the key first, the others in the order of the file.
    public let certificates: [[UInt8]]
    /// PKCS #8, DER.
    private let key: [UInt8]

    /// A PEM text with a PRIVATE KEY and at least one CERTIFICATE, in any order.
    public init(pem: [UInt8]) throws(Fault) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard
            let key = withMemory(pem, { PEM_read_bio_PrivateKey($0, nil, noPassword, nil) })
        else { throw .noPrivateKey }
        defer { EVP_PKEY_free(key) }
        var certificates: [OpaquePointer] = []
        defer { certificates.forEach(X509_free) }
        _ = withMemory(pem) { bio -> OpaquePointer? in
            while let next = PEM_read_bio_X509(bio, nil, noPassword, nil) {
                certificates.append(next)
            }
            return nil
        }
        try self.init(key, certificates)
    }

    /// A PKCS#12 file, as `openssl pkcs12 -export` makes it.
    public init(pkcs12: [UInt8], password: String) throws(Fault) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let file = withMemory(pkcs12, { d2i_PKCS12_bio($0, nil) }) else { throw .notPKCS12 }
        defer { PKCS12_free(file) }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        guard PKCS12_parse(file, password, &key, &certificate, &others) == 1 else {
            throw .notOpened
        }
        var certificates = [certificate].compactMap { $0 }
        if let others {
            while let next = OPENSSL_sk_shift(others) { certificates.append(OpaquePointer(next)) }
            OPENSSL_sk_free(others)
        }
        defer {
            certificates.forEach(X509_free)
            EVP_PKEY_free(key)
        }
        guard let key else { throw .noPrivateKey }
        try self.init(key, certificates)
    }

    private init(_ key: OpaquePointer, _ certificates: [OpaquePointer]) throws(Fault) {
        guard !certificates.isEmpty else { throw .noCertificate }
        guard
            let own = certificates.firstIndex(where: { X509_check_private_key($0, key) == 1 })
        else { throw .mismatch }
        let ordered = [certificates[own]] + certificates[..<own] + certificates[(own + 1)...]
        self.certificates = ordered.compactMap { certificate in
            der { i2d_X509(certificate, $0) }
        }
        guard let bytes = der({ i2d_PrivateKey(key, $0) }) else { throw .noPrivateKey }
        self.key = bytes
        // A damaged file may hold a private key with another's public one.
        let probe: [UInt8] = [1]
        guard let first = self.certificates.first,
            CertificateCheck().isValid(sign(probe), of: probe, by: first)
        else { throw .mismatch }
    }

    /// A signature with the key: SHA-256 with ECDSA or RSA (PKCS #1), or Ed25519. Empty if OpenSSL
    /// fails.
    public func sign(_ bytes: [UInt8]) -> [UInt8] {
        ERR_clear_error()
        let key = self.key.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var start = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &start, buffer.count)
        }
        guard let key, let context = EVP_MD_CTX_new() else { return [] }
        defer {
            EVP_MD_CTX_free(context)
            EVP_PKEY_free(key)
            ERR_clear_error()
        }
        var count = 0
        guard EVP_DigestSignInit(context, nil, digest(for: key), nil, key) == 1,
            EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
        else { return [] }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else {
            return []
        }
        return Array(signature.prefix(count))
    }
}

/// Ed25519 and Ed448 hash by themselves.
func digest(for key: OpaquePointer) -> OpaquePointer? {
    switch EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_ED25519, EVP_PKEY_ED448: nil
    default: EVP_sha256()
    }
}

/// With a callback that has no password to give, OpenSSL never asks a terminal for one.
private func noPassword(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }

private func withMemory(_ bytes: [UInt8], _ body: (OpaquePointer) -> OpaquePointer?)
    -> OpaquePointer?
{
    bytes.withUnsafeBytes { bytes in
        guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else {
            return nil
        }
        defer { BIO_free(bio) }
        return body(bio)
    }
}

/// What an `i2d` function writes.
private func der(_ emit: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32)
    -> [UInt8]?
{
    var start: UnsafeMutablePointer<UInt8>?
    let count = emit(&start)
    guard count > 0, let start else { return nil }
    defer { CRYPTO_free(start, #fileID, #line) }
    return Array(UnsafeBufferPointer(start: start, count: Int(count)))
}
