import COpenSSL
import NearbyCore
import NearbyEngine

/// An X.509 certificate, owned.
package final class Certificate {
    package let pointer: OpaquePointer

    /// Takes ownership.
    private init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_free(pointer) }

    /// All that are in a PEM text, in its order; other things in it are skipped. Nil if one of them
    /// is damaged, or there are more than `limit`.
    static func parse(pem: [UInt8], limit: Int) -> [Certificate]? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let bio = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
        defer { BIO_free(bio) }
        var certificates: [Certificate] = []
        while let pointer = PEM_read_bio_X509(bio, nil, noPassword, nil) {
            certificates.append(Certificate(pointer))
        }
        let reason = Int32(truncatingIfNeeded: ERR_peek_last_error() & 0x7f_ffff)
        return reason == PEM_R_NO_START_LINE && certificates.count <= limit ? certificates : nil
    }

    /// Bytes in DER.
    var byteCount: Int { Int(i2d_X509(pointer, nil)) }

    /// Of its key.
    var peer: PeerID? { KeyPair.peer(of: pointer) }

    /// Says of itself that it signs others (RFC 5280 §4.2.1.9).
    var isAuthority: Bool { X509_check_ca(pointer) == 1 }

    func isEqual(to other: Certificate) -> Bool { X509_cmp(pointer, other.pointer) == 0 }
}

extension Certification {
    /// What a chain that leads to an anchor says, the peer's own certificate first.
    init(verified store: OpaquePointer) {
        self.init(notBefore: .min, notAfter: .max)
        let chain = X509_STORE_CTX_get0_chain(store)
        let epoch = ASN1_TIME_set(nil, 0)
        defer { ASN1_STRING_free(epoch) }
        for index in 0..<OPENSSL_sk_num(chain) {
            guard let pointer = OPENSSL_sk_value(chain, index) else { continue }
            let certificate = OpaquePointer(pointer)
            if index == 0 { addRoles(of: certificate) }
            notBefore = max(notBefore, Self.seconds(epoch, X509_get0_notBefore(certificate)))
            notAfter = min(notAfter, Self.seconds(epoch, X509_get0_notAfter(certificate)))
        }
    }

    /// What cannot be read is before all times: then nothing is valid, or not any more.
    private static func seconds(
        _ from: UnsafePointer<ASN1_TIME>?, _ time: UnsafePointer<ASN1_TIME>?
    ) -> Int64 {
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, from, time) == 1 else { return .min }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    /// Of the URIs among its subject alternative names (RFC 5280 §4.2.1.6).
    private mutating func addRoles(of certificate: OpaquePointer) {
        guard let found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else {
            return
        }
        let names = OpaquePointer(found)
        defer { GENERAL_NAMES_free(names) }
        for index in 0..<OPENSSL_sk_num(names) {
            guard let name = OPENSSL_sk_value(names, index)?.load(as: GENERAL_NAME.self),
                name.type == GEN_URI, let text = name.d.uniformResourceIdentifier
            else { continue }
            let bytes = UnsafeBufferPointer(
                start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
            add(uri: String(decoding: bytes, as: UTF8.self))
        }
    }
}
