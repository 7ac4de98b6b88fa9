import NearbyCertificates
import NearbyCore
import NearbyGroups

/// Certificates with a private key, from files in PEM or PKCS#12: what other members of a session
/// are shown.
public struct Identity: SessionIdentity, Sendable {
    private let key: CertifiedKey

    /// A PEM text with a private key that is not encrypted, its certificate, and those above it.
    ///
    /// - Throws: `.invalidParameter` with what is missing.
    public init(pem: [UInt8]) throws(NearbyError) {
        try self.init { () throws(CertifiedKey.Fault) in try CertifiedKey(pem: pem) }
    }

    /// - Throws: `.invalidParameter` where the password is wrong or something is missing.
    public init(pkcs12: [UInt8], password: String) throws(NearbyError) {
        try self.init { () throws(CertifiedKey.Fault) in
            try CertifiedKey(pkcs12: pkcs12, password: password)
        }
    }

    private init(_ read: () throws(CertifiedKey.Fault) -> CertifiedKey) throws(NearbyError) {
        do throws(CertifiedKey.Fault) {
            key = try read()
        } catch {
            throw NearbyError(.invalidParameter, "identity: \(error)")
        }
        let byteCount = certificates.reduce(0) { $0 + $1.count }
        guard certificates.count <= Limits.certificatesMax,
            byteCount <= Limits.certificateBytesMax
        else {
            throw NearbyError(
                .invalidParameter,
                "identity: a chain has at most \(Limits.certificatesMax) certificates and "
                    + "\(Limits.certificateBytesMax) bytes, this one \(certificates.count) and "
                    + "\(byteCount)")
        }
    }

    /// DER, our own first.
    public var certificates: [[UInt8]] { key.certificates }

    /// With the private key: SHA-256 with ECDSA or RSA, or Ed25519.
    public func sign(_ bytes: [UInt8]) -> [UInt8] { key.sign(bytes) }
}

/// Helps certificate handlers.
public enum Certificates {
    /// Whether a chain (DER, the member's own first) leads to one of the anchors, by X.509's basic
    /// policy; dates are checked.
    public static func isTrusted(_ chain: [[UInt8]], anchors: [[UInt8]]) -> Bool {
        CertificateCheck.isTrusted(chain, anchors: anchors)
    }
}
