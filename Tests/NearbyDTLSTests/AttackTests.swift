import COpenSSL
import CVirtualClock
import NearbyCore
import NearbyEngine
import Testing

@testable import NearbyDTLS

/// What others on the network, wrong certificates and the wall clock can do to a handshake.
@Suite struct AttackTests {
    private let client = OpenSSLCryptography(key: .generate())
    private let server = OpenSSLCryptography(key: .generate())

    @Test func harmfulRecordsCostNoAttempt() {
        for seed in 0..<UInt64(40) {
            var faults = NetworkFaults()
            faults.forgery = 1
            let outcome = HandshakePair(
                client: client, server: server, faults: faults, seed: seed,
                forge: { generator, _ in
                    harmfulRecords.randomElement(using: &generator)?.bytes ?? []
                }
            ).run()
            #expect(outcome.attempts == 1, "seed \(seed)")
            #expect(outcome.client?.exporter == outcome.server?.exporter)
            #expect(outcome.client != nil, "seed \(seed)")
            #expect(outcome.drops != DropCounters(), "seed \(seed)")
        }
    }

    @Test func garbageAndTruncatedDatagramsCostNoAttempt() {
        for seed in 0..<UInt64(40) {
            var faults = NetworkFaults()
            faults.forgery = 1
            let outcome = HandshakePair(
                client: client, server: server, faults: faults, seed: seed,
                forge: { generator, real in
                    if Bool.random(using: &generator) {
                        return Array(real.prefix(Int.random(in: 0..<real.count, using: &generator)))
                    }
                    let count = Int.random(in: 0...1_200, using: &generator)
                    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                }
            ).run()
            #expect(outcome.attempts == 1, "seed \(seed)")
            #expect(outcome.client != nil, "seed \(seed)")
        }
    }

    /// Handshake messages with a flipped bit may end attempts, never what comes after them.
    @Test func corruptedHandshakeMessagesAreSurvivedByFreshAttempts() {
        for seed in 0..<UInt64(60) {
            var faults = NetworkFaults()
            faults.forgery = 0.2
            let outcome = HandshakePair(
                client: client, server: server, faults: faults, seed: seed,
                forge: { generator, real in
                    var bytes = real
                    let bit = Int.random(in: 0..<bytes.count * 8, using: &generator)
                    bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                    return bytes
                }
            ).run(limit: .seconds(300))
            #expect(outcome.client?.peer == server.ownPeer, "seed \(seed)")
            #expect(outcome.client?.exporter == outcome.server?.exporter, "seed \(seed)")
        }
    }

    @Test func finishedServerSurvivesAttacksAndRepeatsItsLostLastFlight() throws {
        defer { virtual_clock_set(0) }
        var pair = try ManualPair(client, server)
        try pair.exchange(losingLastFlight: true)
        guard case .finished(let result) = pair.server.state else {
            Issue.record("server not done"); return
        }
        #expect(pair.client.state == .running)
        for (_, bytes) in harmfulRecords { pair.server.receive(bytes[...], now: pair.now) }
        #expect(pair.server.takeOutgoing() == [])
        #expect(pair.server.takeDrops() != DropCounters())
        pair.move(by: .milliseconds(110))
        pair.client.deadlineReached(now: pair.now)
        try pair.exchange()
        #expect(
            pair.client.state
                == .finished(HandshakeResult(peer: server.ownPeer, exporter: result.exporter)))
        for (_, bytes) in harmfulRecords { pair.client.receive(bytes[...], now: pair.now) }
        #expect(pair.client.takeOutgoing() == [])
        #expect(pair.client.nextDeadline == nil)
    }

    @Test func strangeClientHelloOnAnEstablishedAssociationIsDropped() throws {
        defer { virtual_clock_set(0) }
        var pair = try ManualPair(client, server)
        try pair.exchange()
        let state = pair.server.state
        for bytes in client.makeClient(now: pair.now).takeOutgoing() {
            pair.server.receive(bytes[...], now: pair.now)
        }
        #expect(pair.server.state == state)
        #expect(pair.server.takeOutgoing() == [])
    }

    @Test(arguments: ["RSA", "P-384"]) func otherKeysThanP256AreRefused(kind: String) throws {
        let key = try #require(kind == "RSA" ? shim_EVP_RSA_gen(2_048) : shim_EVP_EC_gen("P-384"))
        let wrong = OpenSSLCryptography(key: try #require(KeyPair.selfSigned(key)))
        let asClient = HandshakePair(
            client: wrong, server: server, faults: NetworkFaults(), seed: 1
        )
        .run(limit: .seconds(20))
        let asServer = HandshakePair(
            client: client, server: wrong, faults: NetworkFaults(), seed: 1
        )
        .run(limit: .seconds(20))
        #expect(asClient.time == nil)
        #expect(asServer.time == nil)
    }

    @Test func refusedCertificateIsNamed() throws {
        defer { virtual_clock_set(0) }
        let wide = OpenSSLCryptography(
            key: try #require(KeyPair.selfSigned(shim_EVP_EC_gen("P-384"))))
        var pair = try ManualPair(wide, server)
        try pair.exchange()
        guard case .failed(let reason, let text) = pair.server.state else {
            Issue.record("\(pair.server.state)")
            return
        }
        #expect(reason == .handshakeCertificate)
        #expect(text.contains("P-256"))
    }

    @Test func clientWithoutExtendedMasterSecretIsRefused() throws {
        defer { virtual_clock_set(0) }
        let old = OpenSSLCryptography(key: .generate())
        SSL_CTX_set_options(old.context.pointer, 1)  // SSL_OP_NO_EXTENDED_MASTER_SECRET
        var pair = try ManualPair(old, server)
        try pair.exchange()
        guard case .failed(.handshakeFailed, let text) = pair.server.state else {
            Issue.record("\(pair.server.state)")
            return
        }
        #expect(text.contains("extended master secret"))
    }

    @Test func wallClockThatGoesBackEndsTheAttemptAtItsNextRetransmission() {
        defer { virtual_clock_set(0) }
        virtual_clock_set(1_700_000_000_000_000)
        let channel = client.makeClient(now: .zero)
        virtual_clock_set(1_600_000_000_000_000)
        let due = channel.nextDeadline ?? .distantFuture
        #expect(due <= .zero + .milliseconds(100))
        channel.deadlineReached(now: due)
        #expect(
            channel.state
                == .failed(.handshakeTimeout, "the wall clock went back during the handshake"))
        #expect(channel.nextDeadline == nil)
    }

    @Test func wallClockThatStandsStillEndsTheAttemptInTime() {
        defer { virtual_clock_set(0) }
        virtual_clock_set(1_700_000_000_000_000)
        let channel = client.makeClient(now: .zero)
        var now = Instant.zero
        var calls = 0
        while let due = channel.nextDeadline, calls < 10_000 {
            now = max(due, now)
            channel.deadlineReached(now: now)
            calls += 1
        }
        guard case .failed(.handshakeTimeout, _) = channel.state else {
            Issue.record("\(channel.state)")
            return
        }
        #expect(now <= .zero + Limits.handshakeStallMax)
        #expect(calls < 200)
    }

    @Test func wallClockThatGoesForwardCostsOneRetransmission() throws {
        defer { virtual_clock_set(0) }
        var pair = try ManualPair(client, server)
        pair.wallOffset = 3_600_000_000
        pair.move(by: .milliseconds(10))
        pair.client.deadlineReached(now: pair.now)
        try pair.exchange()
        guard case .finished = pair.client.state else {
            Issue.record("\(pair.client.state)"); return
        }
    }

    @Test func unansweredClientGivesUp() {
        defer { virtual_clock_set(0) }
        virtual_clock_set(1_700_000_000_000_000)
        let channel = client.makeClient(now: .zero)
        var now = Instant.zero
        var datagrams = channel.takeOutgoing().count
        while let due = channel.nextDeadline {
            now = due
            virtual_clock_set(1_700_000_000_000_000 + now.nanoseconds / 1_000)
            channel.deadlineReached(now: now)
            channel.deadlineReached(now: now)
            datagrams += channel.takeOutgoing().count
        }
        guard case .failed(.handshakeTimeout, _) = channel.state else {
            Issue.record("\(channel.state)")
            return
        }
        #expect(now <= .zero + Limits.handshakeStallMax)
        #expect(datagrams == 13)
    }
}

/// A handshake moved by hand on the virtual clock; the caller brings back the true time.
struct ManualPair {
    let client: any SecureChannel
    private(set) var server: any SecureChannel
    private(set) var now = Instant.zero
    /// Added to the wall clock alone, microseconds.
    var wallOffset: Int64 = 0

    /// Goes as far as the returned cookie.
    init(_ client: OpenSSLCryptography, _ server: OpenSSLCryptography) throws {
        virtual_clock_set(1_700_000_000_000_000)
        let channel = client.makeClient(now: .zero)
        self.client = channel
        let hello = try #require(channel.takeOutgoing().first)
        guard case .reply(let request) = server.listen(hello[...], from: [1], now: .zero) else {
            throw Unexpected()
        }
        channel.receive(request[...], now: .zero)
        let second = try #require(channel.takeOutgoing().first)
        guard case .accepted(let accepted) = server.listen(second[...], from: [1], now: .zero)
        else {
            throw Unexpected()
        }
        self.server = accepted
    }

    mutating func move(by duration: Duration) {
        now = now + duration
        virtual_clock_set(1_700_000_000_000_000 + wallOffset + now.nanoseconds / 1_000)
    }

    /// Carries datagrams until both are quiet; what a finished server sends may be lost.
    mutating func exchange(losingLastFlight: Bool = false) throws {
        for _ in 0..<10 {
            for bytes in server.takeOutgoing() {
                if case .finished = server.state, losingLastFlight { continue }
                client.receive(bytes[...], now: now)
            }
            for bytes in client.takeOutgoing() { server.receive(bytes[...], now: now) }
        }
    }

    struct Unexpected: Error {}
}
