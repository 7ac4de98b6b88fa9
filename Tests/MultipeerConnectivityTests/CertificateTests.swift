import Foundation
import Testing

@testable import MultipeerConnectivity

/// With certificates that openssl made.
@Suite(.serialized) struct CertificateTests {
    @Test func chainReachesTheOtherSideAndLeadsToItsAnchor() async throws {
        let authority = try Authority()
        let service = Person.someService
        let gabe = Person(
            "Gabe", service: service, identity: [try authority.identity(named: "gabe")])
        let jeff = Person("Jeff", service: service)
        await gabe.joins(jeff)
        let chain = try #require(jeff.notes.certificates.first.flatMap { $0 })
        #expect(chain.allSatisfy { $0 is Data })
        #expect(MCCertificates.isTrusted(chain, anchors: [try authority.certificate()]))
        #expect(!MCCertificates.isTrusted(chain, anchors: [try Authority().certificate()]))
        #expect(!MCCertificates.isTrusted(nil, anchors: [try authority.certificate()]))
        #expect(gabe.notes.certificates.first.flatMap { $0 } == nil)
        #expect((gabe.session.securityIdentity?.first as? MCIdentity) != nil)
        gabe.leaves()
        jeff.leaves()
    }

    @Test func refusedCertificateIsNoConnection() async throws {
        let authority = try Authority()
        let service = Person.someService
        let gabe = Person(
            "Gabe", service: service, identity: [try authority.identity(named: "gabe")])
        let jeff = Person("Jeff", service: service, acceptsCertificates: false)
        jeff.advertiser.startAdvertisingPeer()
        gabe.browser.startBrowsingForPeers()
        await gabe.waits { $0.found[jeff.peer] != nil }
        gabe.browser.invitePeer(jeff.peer, to: gabe.session, withContext: nil, timeout: 20)
        await gabe.waits { $0.states.last == .notConnected }
        await jeff.waits { $0.states.last == .notConnected }
        #expect(!gabe.notes.states.contains(.connected))
        #expect(!jeff.notes.states.contains(.connected))
        gabe.leaves()
        jeff.leaves()
    }

    @Test func whatIsNoIdentityIsToldByEveryCall() throws {
        KeyFolderForTests.use()
        let peer = MCPeerID(displayName: "Gabe")
        let session = MCSession(
            peer: peer, securityIdentity: ["no identity"], encryptionPreference: .required)
        #expect(
            SessionTests.code {
                try session.send(Data([1]), toPeers: [peer], with: .reliable)
            } == .invalidParameter)
        #expect(session.connectedPeers.isEmpty)
        #expect(throws: MCError.self) { try MCIdentity(pem: Data("nothing".utf8)) }
    }
}

/// An authority with its files in a temporary folder.
private final class Authority {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("authority-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ours "
                + "-keyout ca.key -out ca.pem")
        try openssl("x509 -in ca.pem -outform DER -out ca.der")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func certificate() throws -> Data { try Data(contentsOf: file("ca.der")) }

    func identity(named name: String) throws -> MCIdentity {
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) "
                + "-keyout leaf.key -out leaf.csr")
        try openssl(
            "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out leaf.pem")
        try openssl(
            "pkcs12 -export -in leaf.pem -inkey leaf.key -certfile ca.pem -passout pass:secret "
                + "-out leaf.p12")
        return try MCIdentity(pkcs12: Data(contentsOf: file("leaf.p12")), password: "secret")
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    private func openssl(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = folder
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }
}
