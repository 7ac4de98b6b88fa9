import Foundation
import Nearby

/// A certificate chain with its private key: what `SecIdentity` and its certificates are to Apple.
/// It is the only element of `MCSession.securityIdentity`.
public typealias MCIdentity = Nearby.Identity

extension Nearby.Identity {
    /// From a PKCS#12 file, as `SecPKCS12Import` takes it.
    public init(pkcs12 data: Data, password: String) throws {
        do {
            try self.init(pkcs12: [UInt8](data), password: password)
        } catch {
            throw MCError(error)
        }
    }

    /// From PEM: the private key and its certificate, then those that vouch for it.
    public init(pem data: Data) throws {
        do {
            try self.init(pem: [UInt8](data))
        } catch {
            throw MCError(error)
        }
    }

    /// Nil for none; throws for what is no identity.
    init?(securityIdentity: [Any]?) throws(NearbyError) {
        guard let first = securityIdentity?.first else { return nil }
        guard let identity = first as? Self, securityIdentity?.count == 1 else {
            let count = securityIdentity?.count ?? 0
            throw NearbyError(
                .invalidParameter,
                "securityIdentity is an array of one MCIdentity, whose file has the chain as "
                    + "well; this one has \(count) elements, the first a \(type(of: first))")
        }
        self = identity
    }
}

/// What `SecTrustEvaluateWithError` with the basic X.509 policy is to Apple.
public enum MCCertificates {
    /// Whether a chain, as `session(_:didReceiveCertificate:fromPeer:certificateHandler:)` gets it,
    /// leads to one of the anchors, certificates in DER, and is valid today.
    public static func isTrusted(_ chain: [Any]?, anchors: [Data]) -> Bool {
        let certificates = (chain ?? []).compactMap { ($0 as? Data).map { [UInt8]($0) } }
        guard !certificates.isEmpty, certificates.count == chain?.count else { return false }
        return Certificates.isTrusted(certificates, anchors: anchors.map { [UInt8]($0) })
    }
}

// What programs take from Apple's Security framework for a session, and what to take here.

@available(
    *, unavailable, message: "Linux has no Security framework: MCIdentity(pkcs12:password:)"
)
public typealias SecIdentity = Never

@available(
    *, unavailable, message: "Linux has no Security framework: certificates are Data in DER"
)
public typealias SecCertificate = Never

@available(
    *, unavailable,
    message: "Linux has no Security framework: MCCertificates.isTrusted(_:anchors:)"
)
public typealias SecTrust = Never
