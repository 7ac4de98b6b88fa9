import COpenSSL
import NearbyCore
import NearbyEngine

/// An X.509 certificate, owned.
final class Certificate {
    let pointer: OpaquePointer

    /// Takes ownership.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_free(pointer) }

    /// All that are in a PEM text, in its order, `limit` and one at most; other things in it are
    /// skipped. Nil if one of them is damaged.
    static func parse(pem: [UInt8], limit: Int) -> [Certificate]? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return KeyPair.reading(pem) { bio in
            var certificates: [Certificate] = []
            while certificates.count <= limit {
                guard let pointer = PEM_read_bio_X509(bio, nil, noPassword, nil) else {
                    let reason = Int32(truncatingIfNeeded: ERR_peek_last_error() & 0x7f_ffff)
                    return reason == PEM_R_NO_START_LINE ? certificates : nil
                }
                certificates.append(Certificate(pointer))
            }
            return certificates
        }
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
    init?(verified store: OpaquePointer) {
        guard let chain = X509_STORE_CTX_get0_chain(store),
            let own = OPENSSL_sk_value(chain, 0)
        else { return nil }
        self.init(
            uris: Self.alternativeNames(OpaquePointer(own)), notBefore: .min, notAfter: .max)
        for index in 0..<OPENSSL_sk_num(chain) {
            guard let pointer = OPENSSL_sk_value(chain, index) else { return nil }
            let certificate = OpaquePointer(pointer)
            guard let begin = Self.unixTime(X509_get0_notBefore(certificate)),
                let end = Self.unixTime(X509_get0_notAfter(certificate))
            else { return nil }
            notBefore = max(notBefore, begin)
            notAfter = min(notAfter, end)
        }
    }

    /// Seconds since 1970 UTC.
    private static func unixTime(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        guard let epoch = ASN1_TIME_set(nil, 0) else { return nil }
        defer { ASN1_STRING_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    /// The URIs among its subject alternative names (RFC 5280 §4.2.1.6).
    private static func alternativeNames(_ certificate: OpaquePointer) -> [String] {
        guard let found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else {
            return []
        }
        let names = OpaquePointer(found)
        defer { GENERAL_NAMES_free(names) }
        return (0..<OPENSSL_sk_num(names)).compactMap { index in
            guard let name = OPENSSL_sk_value(names, index)?.load(as: GENERAL_NAME.self),
                name.type == GEN_URI, let text = name.d.uniformResourceIdentifier
            else { return nil }
            return String(
                decoding: UnsafeBufferPointer(
                    start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text))),
                as: UTF8.self)
        }
    }
}
