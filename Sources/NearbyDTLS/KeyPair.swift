import COpenSSL
import NearbyCore

/// An ECDSA P-256 key with its self-signed certificate, owned.
///
/// The certificate is a carrier of the key: valid from 1970-01-01 to 9999-12-31, since a board's
/// clock may say anything, and with a subject that names nobody.
package final class KeyPair {
    package let privateKey: OpaquePointer
    let certificate: OpaquePointer
    let peer: PeerID

    /// Takes ownership of both. Nil if they do not belong together.
    init?(privateKey: OpaquePointer, certificate: OpaquePointer) {
        ERR_clear_error()
        guard X509_check_private_key(certificate, privateKey) == 1,
            let peer = Self.peer(of: certificate)
        else {
            EVP_PKEY_free(privateKey)
            X509_free(certificate)
            return nil
        }
        self.privateKey = privateKey
        self.certificate = certificate
        self.peer = peer
    }

    deinit {
        EVP_PKEY_free(privateKey)
        X509_free(certificate)
    }

    /// A new key from the operating system's randomness.
    static func generate() -> KeyPair {
        guard let key = shim_EVP_EC_gen("P-256"), let pair = selfSigned(key) else {
            preconditionFailure("OpenSSL could not make a P-256 key")
        }
        return pair
    }

    /// Reads a PEM text with a PRIVATE KEY and a CERTIFICATE; says what is wrong otherwise.
    static func parse(pem: [UInt8]) throws(KeyPairError) -> KeyPair {
        let key = try privateKey(in: pem)
        defer { ERR_clear_error() }
        guard let certificate = reading(pem, { PEM_read_bio_X509($0, nil, noPassword, nil) }) else {
            EVP_PKEY_free(key)
            throw .noCertificate
        }
        guard let pair = KeyPair(privateKey: key, certificate: certificate) else { throw .mismatch }
        return pair
    }

    /// Reads a PEM text with a PRIVATE KEY alone, and certifies it.
    static func parse(key pem: [UInt8]) throws(KeyPairError) -> KeyPair {
        guard let pair = selfSigned(try privateKey(in: pem)) else { throw .noPrivateKey }
        return pair
    }

    private static func privateKey(in pem: [UInt8]) throws(KeyPairError) -> OpaquePointer {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let key = reading(pem, { PEM_read_bio_PrivateKey($0, nil, noPassword, nil) }) else {
            throw .noPrivateKey
        }
        guard isP256(key) else {
            EVP_PKEY_free(key)
            throw .notP256
        }
        return key
    }

    /// Key (PKCS #8, not encrypted) and certificate as PEM text.
    func pem() -> [UInt8] {
        guard let bio = BIO_new(BIO_s_mem()) else { preconditionFailure("BIO_new: out of memory") }
        defer { BIO_free(bio) }
        precondition(
            PEM_write_bio_PrivateKey(bio, privateKey, nil, nil, 0, nil, nil) == 1
                && PEM_write_bio_X509(bio, certificate) == 1, "OpenSSL could not write our key")
        return Self.content(of: bio)
    }

    /// What was written to a memory BIO.
    package static func content(of bio: OpaquePointer) -> [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        let count = shim_BIO_get_mem_data(bio, &start)
        return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The first 16 bytes of SHA-256 over the certificate's SubjectPublicKeyInfo in DER.
    static func peer(of certificate: OpaquePointer) -> PeerID? {
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der)
        guard count > 0, let der else { return nil }
        defer { CRYPTO_free(der, #fileID, #line) }
        return PeerID(
            bytes: Digest.sha256(UnsafeRawBufferPointer(start: der, count: Int(count))).prefix(16))
    }

    static func isP256(_ key: OpaquePointer) -> Bool {
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else { return false }
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return false }
        return name.prefix(count).elementsEqual(
            "prime256v1".utf8.lazy.map { CChar(bitPattern: $0) })
    }

    /// Certifies a key of any kind (tests make wrong ones); takes ownership of it.
    static func selfSigned(_ key: OpaquePointer) -> KeyPair? {
        guard let certificate = X509_new() else { return nil }
        var serial: UInt64 = 0
        RAND_bytes(&serial, 8)
        let name = X509_get_subject_name(certificate)
        let done =
            X509_set_version(certificate, Int(X509_VERSION_3)) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1
            && ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "19700101000000Z") == 1
            && ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1
            && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "rivulet", -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, name) == 1
            && X509_set_pubkey(certificate, key) == 1
            && X509_sign(certificate, key, EVP_sha256()) > 0
        guard done else {
            X509_free(certificate)
            EVP_PKEY_free(key)
            return nil
        }
        return KeyPair(privateKey: key, certificate: certificate)
    }

    private static func reading(_ pem: [UInt8], _ body: (OpaquePointer) -> OpaquePointer?)
        -> OpaquePointer?
    {
        pem.withUnsafeBytes { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else {
                return nil
            }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }
}

/// With a callback that has no password to give, OpenSSL never asks a terminal for one.
func noPassword(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }

/// Why a PEM text is not one of our key pairs.
enum KeyPairError: Error, Equatable {
    case noPrivateKey, notP256, noCertificate, mismatch
}
