import COpenSSL
import FailingFiles
import Glibc
import NearbyCore
import NearbyEngine
import NearbyKeys
import Testing

@testable import NearbyDTLS

/// Certificates that the `openssl` program made, in handshakes and in files.
@Suite(.enabled(if: TestAuthority.hasProgram)) struct AuthorityTests {
    private func run(
        _ client: OpenSSLCryptography, _ server: OpenSSLCryptography,
        _ faults: NetworkFaults = NetworkFaults(), seed: UInt64 = 1, limit: Duration = .seconds(120)
    ) -> HandshakePair.Outcome {
        HandshakePair(client: client, server: server, faults: faults, seed: seed).run(limit: limit)
    }

    private func withAuthority(_ body: (TestAuthority) throws -> Void) throws {
        try withTemporaryDirectory { try body(try TestAuthority(in: $0)) }
    }

    /// Nil without certificates.
    private func roles(_ certification: Certification?) -> [Role]? {
        certification.map { Role.allCases.filter($0.names) }
    }

    // MARK: Handshakes

    @Test func eachSideLearnsTheOthersRolesAndDates() throws {
        try withAuthority { authority in
            let client = try authority.makeNode("north", as: "agent", days: 30)
            let server = try authority.makeNode("center", as: "collector", days: 20)
            let outcome = run(client, server)
            #expect(outcome.attempts == 1)
            #expect(outcome.largestDatagram <= Limits.handshakeRecordBytesMax)
            #expect(outcome.drops == DropCounters())
            let seen = try #require(outcome.client?.certification)
            #expect(outcome.client?.peer == server.ownPeer)
            #expect(roles(seen) == [.collector])
            #expect(seen.notAfter - seen.notBefore == 20 * 86_400)
            let now = Int64(time(nil))
            #expect(seen.isValid(at: now) && !seen.isValid(at: now + 21 * 86_400))
            #expect(!seen.isValid(at: now - 3_600))
            #expect(roles(outcome.server?.certification) == [.agent])
        }
    }

    /// The chains fill several datagrams each way.
    @Test func aLongChainArrivesInDatagramsOfTheUsualSizeUnderLoss() throws {
        try withAuthority { authority in
            try authority.makeIntermediate("region", key: ["rsa:2048"])
            try authority.makeIntermediate("site", by: "region", key: ["rsa:2048"])
            let nodes = try ["north", "center"].map { name in
                let identity = try authority.makeIdentity(name)
                try authority.sign(name, as: "collector", by: "site")
                let path = try authority.join(
                    [name, "site", "region"].map { $0 + ".pem" }, as: name + ".chain.pem")
                let loaded = try Authority.load(
                    anchors: authority.anchors, certificate: path, for: identity)
                return OpenSSLCryptography(identity: identity.certified(by: loaded))
            }
            let inTurn = Duration.milliseconds(5)..<Duration.nanoseconds(5_000_001)
            let clean = run(nodes[0], nodes[1], NetworkFaults(delay: inTurn))
            #expect(clean.largestDatagram <= Limits.handshakeRecordBytesMax)
            // Each side's certificates take two more than a self-signed one.
            #expect((9...12).contains(clean.datagrams), "\(clean.datagrams)")
            for seed in 0..<UInt64(20) {
                let outcome = run(nodes[0], nodes[1], NetworkFaults(loss: 0.3), seed: seed)
                #expect(roles(outcome.client?.certification) == [.collector], "seed \(seed)")
                #expect(outcome.server?.certification != nil, "seed \(seed)")
            }
        }
    }

    @Test(arguments: [["rsa:2048"], ["ec:secp384r1"]])
    func anAuthorityMayHaveAnotherKindOfKey(_ key: [String]) throws {
        try withTemporaryDirectory { folder in
            let authority = try TestAuthority(in: folder, key: key)
            let outcome = run(
                try authority.makeNode("north"), try authority.makeNode("south"))
            #expect(roles(outcome.client?.certification) == [])
            #expect(outcome.server?.certification != nil)
        }
    }

    @Test func whoShowsNoChainIsRefusedByEitherSide() throws {
        try withAuthority { authority in
            let member = try authority.makeNode("north")
            let stranger = OpenSSLCryptography(key: .generate())
            for (client, server) in [(member, stranger), (stranger, member)] {
                let outcome = run(client, server, limit: .seconds(40))
                #expect(outcome.client == nil || outcome.server == nil)
                #expect(outcome.time == nil)
            }
        }
    }

    @Test func theReasonNamesThePeerAndTheOtherSideGuessesIt() throws {
        try withAuthority { authority in
            let member = try authority.makeNode("north")
            let stranger = OpenSSLCryptography(key: .generate())
            var now = Instant.zero
            let client = stranger.makeClient(now: now)
            var server: (any SecureChannel)?
            while case .running = client.state, now < .zero + .seconds(30) {
                for bytes in client.takeOutgoing() {
                    if let server { server.receive(bytes[...], now: now); continue }
                    switch member.listen(bytes[...], from: [1], now: now) {
                    case .reply(let reply): client.receive(reply[...], now: now)
                    case .accepted(let accepted): server = accepted
                    case .dropped: break
                    }
                }
                for bytes in server?.takeOutgoing() ?? [] { client.receive(bytes[...], now: now) }
                now = now + .milliseconds(100)
                client.deadlineReached(now: now)
            }
            guard case .failed(.handshakeCertificate, let text)? = server?.state,
                case .failed(.handshakeTimeout, let guess) = client.state
            else { Issue.record("\(server?.state as Any), \(client.state)"); return }
            #expect(text.contains("\(stranger.ownPeer)"), "\(text)")
            #expect(text.contains("does not lead to our authority: self"), "\(text)")
            #expect(guess.contains("unknown CA"), "\(guess)")
        }
    }

    @Test func aCertificateOfAnotherAuthorityIsRefused() throws {
        try withTemporaryDirectory { folder in
            let ours = try TestAuthority(in: folder, name: "ours")
            let others = try TestAuthority(in: folder, name: "others")
            let outcome = run(
                try ours.makeNode("north"), try others.makeNode("south"), limit: .seconds(20))
            #expect(outcome.time == nil)
        }
    }

    /// Who has certificates is let in where nobody asks for them, and sees what was always seen.
    @Test func withoutAnAuthorityCertificatesMeanNothing() throws {
        try withAuthority { authority in
            let member = try authority.makeNode("north", as: "collector")
            let plain = [
                OpenSSLCryptography(key: .generate()), OpenSSLCryptography(key: .generate()),
            ]
            let outcome = run(plain[0], plain[1])
            #expect(outcome.client?.certification == nil && outcome.datagrams == 6)
            // A member asks, so the handshake fails only on its side.
            #expect(run(plain[0], member, limit: .seconds(5)).server == nil)
        }
    }

    /// Dates are for the engine: OpenSSL looks at none.
    @Test func anExpiredChainFinishesTheHandshakeAndSaysSo() throws {
        try withAuthority { authority in
            let identity = try authority.makeIdentity("north")
            // Valid in this very second: newer tools refuse to sign for the past.
            try authority.sign("north", days: 0)
            let old = OpenSSLCryptography(
                identity: identity.certified(by: try authority.load(identity, "north")))
            let outcome = run(old, try authority.makeNode("south"))
            let seen = try #require(outcome.server?.certification)
            #expect(!seen.isValid(at: Int64(time(nil)) + 2))
        }
    }

    // MARK: Files

    private func fault(
        _ authority: TestAuthority, _ identity: NodeIdentity, _ name: String, anchors: String? = nil
    ) -> String {
        do {
            _ = try authority.load(identity, name, anchors: anchors)
            return "none"
        } catch {
            return "\(error)"
        }
    }

    @Test func whatIsWrongWithTheFilesIsNamed() throws {
        try withAuthority { authority in
            let identity = try authority.makeIdentity("north")
            #expect(fault(authority, identity, "north").contains("north.pem is not there"))
            try authority.write(Array("garbage".utf8), to: "north.pem")
            #expect(fault(authority, identity, "north").contains("has no readable certificates"))
            try authority.sign("north")
            #expect(fault(authority, identity, "north") == "none")
            let other = try authority.makeIdentity("south")
            let text = fault(authority, other, "north")
            #expect(
                text.contains("for the key of \(identity.peer), and this node is \(other.peer)"))
            try authority.join(["north.pem", "north.pem"], as: "twice.pem")
            #expect(fault(authority, identity, "twice") == "none")
            let pem = try #require(try? authority.load(identity, "north").pem)
            try authority.write(Array(pem.dropLast(60)), to: "cut.pem")
            #expect(fault(authority, identity, "cut").contains("has no readable certificates"))
            try authority.join(["authority.pem"], as: "anchor.pem")
            #expect(fault(authority, identity, "anchor").contains("for the key of the authority"))
        }
    }

    @Test func anAnchorThatIsNoAuthorityIsRefused() throws {
        try withAuthority { authority in
            let identity = try authority.makeIdentity("north")
            let path = try authority.sign("north")
            let both = try authority.join(["authority.pem", "north.pem"], as: "both.pem")
            // And the identity's own, self-signed.
            for anchors in [path, both, authority.path("north/identity.pem")] {
                let text = fault(authority, identity, "north", anchors: anchors)
                #expect(text == "\(anchors) holds a certificate of no authority (CA:TRUE)")
            }
        }
    }

    @Test func chainsThatDoNotLeadThereOrAreTooLongAreRefused() throws {
        try withAuthority { authority in
            let identity = try authority.makeIdentity("north")
            try authority.makeIntermediate("a")
            for (name, issuer) in [("b", "a"), ("c", "b"), ("d", "c")] {
                try authority.makeIntermediate(name, by: issuer)
            }
            try authority.sign("north", by: "c")
            #expect(
                fault(authority, identity, "north").contains(
                    "does not lead to \(authority.anchors): unable to get"))
            let files = ["north", "c", "b", "a", "authority"].map { $0 + ".pem" }
            try authority.join(files, as: "whole.pem")
            #expect(fault(authority, identity, "whole") == "none")
            try authority.sign("north", by: "d")
            try authority.join(["north.pem", "d.pem"] + files.dropFirst(), as: "long.pem")
            #expect(fault(authority, identity, "long").contains("is too long a chain"))
            // Any of them may be the anchor.
            let below = try authority.join(["north.pem"], as: "leaf.pem")
            #expect(
                try Authority.load(
                    anchors: authority.path("d.pem"), certificate: below, for: identity
                ).chain.count == 1)
        }
    }

    @Test func tooManyBytesAreRefused() throws {
        try withAuthority { authority in
            let identity = try authority.makeIdentity("north")
            let names = (0..<100).map { "DNS:a-rather-long-name-of-no-use-\($0).example.org" }
            try authority.sign(
                "north", extensions: ["subjectAltName=" + names.joined(separator: ",")])
            try authority.makeIntermediate("a", key: ["rsa:4096"])
            try authority.join(["north.pem", "a.pem"], as: "big.pem")
            #expect(fault(authority, identity, "big").contains("is too long a chain"))
        }
    }

    /// What OpenSSL would not show is refused with a sentence, not by a trap.
    @Test func weakSignaturesAreRefused() throws {
        try withAuthority { authority in
            let identity = try authority.makeIdentity("north")
            try authority.sign("north", options: ["-sha1"])
            #expect(fault(authority, identity, "north").contains("weak"))
        }
    }

    @Test func aCertificateForOtherUsesIsRefused() throws {
        try withAuthority { authority in
            let identity = try authority.makeIdentity("north")
            try authority.sign("north", extensions: ["extendedKeyUsage=serverAuth"])
            #expect(fault(authority, identity, "north").contains("purpose"))
            try authority.sign("north", extensions: ["extendedKeyUsage=serverAuth,clientAuth"])
            #expect(fault(authority, identity, "north") == "none")
        }
    }

    @Test func opensslVerifiesOurChainAndReadsOurRequest() throws {
        try withAuthority { authority in
            let identity = try authority.makeIdentity("north")
            try authority.makeIntermediate("region")
            try authority.sign("north", as: "agent", by: "region")
            try authority.join(["north.pem", "region.pem"], as: "chain.pem")
            try authority.write(try authority.load(identity, "chain").pem, to: "ours.pem")
            let ours = authority.path("ours.pem")
            let anchors = ["verify", "-CAfile", authority.anchors]
            #expect(try opensslStatus(anchors + ["-untrusted", ours, ours]) == 0)
            #expect(try opensslStatus(anchors + [ours]) != 0)
            let request = ["req", "-in", authority.path("north.csr"), "-noout"]
            #expect(try opensslStatus(request + ["-verify"]) == 0)
        }
    }

    // MARK: Keys that others keep

    @Test func aKeyInAFileOfItsOwnIsTheIdentity() throws {
        try withAuthority { authority in
            let key = authority.path("authority.key")
            let identity = try NodeIdentity.load(key: key)
            let again = try NodeIdentity.load(key: key)
            #expect(identity.peer == again.peer)
            #expect(!identity.ephemeral)
            chmod(key, 0o644)
            #expect(throws: IdentityError.open(path: key, permissions: 0o644)) {
                try NodeIdentity.load(key: key)
            }
            let missing = authority.path("no.key")
            #expect(throws: IdentityError.noKey(path: missing, what: "there is no such file")) {
                try NodeIdentity.load(key: missing)
            }
        }
    }
}
