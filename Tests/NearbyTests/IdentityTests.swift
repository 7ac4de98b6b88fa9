import Foundation
import NearbyCertificates
import Testing

@testable import Nearby

struct IdentityTests {
    typealias Identity = Nearby.Identity

    @Test func aChainIsReadWithTheKeysOwnCertificateFirst() throws {
        let identity = try Identity(pem: TestCertificates.chain)
        let authority = try Identity(pem: TestCertificates.authority)
        #expect(identity.certificates.count == 2)
        #expect(identity.certificates[1] == authority.certificates[0])
    }

    @Test func pkcs12OpensWithItsPassword() throws {
        let file = try #require(
            Data(base64Encoded: TestCertificates.pkcs12, options: .ignoreUnknownCharacters))
        let identity = try Identity(pkcs12: Array(file), password: "secret")
        let again = try Identity(pem: TestCertificates.chain)
        #expect(identity.certificates == again.certificates)
        #expect(throws: NearbyError.self) {
            try Identity(pkcs12: Array(file), password: "wrong")
        }
        for count in stride(from: 0, to: file.count, by: 37) {
            #expect(throws: NearbyError.self) {
                try Identity(pkcs12: Array(file.prefix(count)), password: "secret")
            }
        }
    }

    @Test(arguments: [TestCertificates.mismatched, TestCertificates.noKey, [], [1, 2, 3]])
    func whatIsMissingIsSaid(pem: [UInt8]) throws {
        #expect(throws: NearbyError.self) { try Identity(pem: pem) }
    }

    @Test func aSignatureIsValidForItsBytesAndItsCertificate() throws {
        let identity = try Identity(pem: TestCertificates.chain)
        let check = CertificateCheck()
        var proof = identity.sign([1, 2, 3])
        #expect(check.isValid(proof, of: [1, 2, 3], by: identity.certificates[0]))
        #expect(!check.isValid(proof, of: [1, 2, 4], by: identity.certificates[0]))
        #expect(!check.isValid(proof, of: [1, 2, 3], by: identity.certificates[1]))
        proof[10] ^= 1
        #expect(!check.isValid(proof, of: [1, 2, 3], by: identity.certificates[0]))
        #expect(!check.isValid([], of: [1, 2, 3], by: identity.certificates[0]))
        #expect(!check.isValid(proof, of: [1, 2, 3], by: [1, 2, 3]))
    }

    @Test func aChainIsTrustedToItsAnchorAndToday() throws {
        let chain = try Identity(pem: TestCertificates.chain).certificates
        let expired = try Identity(pem: TestCertificates.expired).certificates
        let anchor = chain[1]
        #expect(Certificates.isTrusted(chain, anchors: [anchor]))
        #expect(Certificates.isTrusted([chain[0]], anchors: [anchor]))
        #expect(Certificates.isTrusted([chain[0]], anchors: [chain[0]]))
        #expect(!Certificates.isTrusted(chain, anchors: []))
        #expect(!Certificates.isTrusted(chain, anchors: [expired[0]]))
        #expect(!Certificates.isTrusted([], anchors: [anchor]))
        #expect(!Certificates.isTrusted(expired + [anchor], anchors: [anchor]))
        #expect(!Certificates.isTrusted([[1, 2, 3]], anchors: [anchor]))
        #expect(!Certificates.isTrusted([chain[0], [1]], anchors: [anchor]))
    }
}
