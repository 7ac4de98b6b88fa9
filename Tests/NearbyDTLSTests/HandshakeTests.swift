import COpenSSL
import NearbyCore
import NearbyEngine
import Testing

@testable import NearbyDTLS

@Suite struct HandshakeTests {
    private let client = OpenSSLCryptography(key: .generate())
    private let server = OpenSSLCryptography(key: .generate())

    private func run(_ faults: NetworkFaults, seed: UInt64) -> HandshakePair.Outcome {
        HandshakePair(client: client, server: server, faults: faults, seed: seed).run()
    }

    @Test func cleanHandshakeGivesBothTheSameKeysAndEachOthersPeerID() throws {
        let outcome = run(NetworkFaults(), seed: 1)
        let clientResult = try #require(outcome.client)
        let serverResult = try #require(outcome.server)
        #expect(clientResult.peer == server.ownPeer)
        #expect(serverResult.peer == client.ownPeer)
        #expect(clientResult.exporter == serverResult.exporter)
        #expect(clientResult.exporter.count == HandshakeResult.exporterByteCount)
        #expect(outcome.attempts == 1)
        #expect(outcome.datagrams == 6)
        #expect(outcome.largestDatagram <= Limits.handshakeRecordBytesMax)
        #expect(outcome.drops == DropCounters())
    }

    @Test func twoHandshakesGiveDifferentKeys() throws {
        let first = try #require(run(NetworkFaults(), seed: 1).client)
        let second = try #require(run(NetworkFaults(), seed: 1).client)
        #expect(first.exporter != second.exporter)
    }

    /// The bound, with the real OpenSSL on the virtual clock.
    @Test func thousandHandshakesAtThirtyPercentLossBothWays() throws {
        var times: [Duration] = []
        var attempts = 0
        for seed in 0..<UInt64(1_000) {
            let outcome = run(NetworkFaults(loss: 0.3), seed: seed)
            let time = try #require(outcome.time, "seed \(seed) did not finish")
            #expect(outcome.client?.exporter == outcome.server?.exporter, "seed \(seed)")
            times.append(time)
            attempts += outcome.attempts
        }
        times.sort()
        let line = """
            handshake at 30 % loss: median \(quantile(0.5, of: times)), \
            p95 \(quantile(0.95, of: times)), p99 \(quantile(0.99, of: times)), \
            worst \(quantile(1, of: times)), \(attempts) attempts
            """
        print(line)
        #expect(quantile(0.5, of: times) < .seconds(2), "\(line)")
        #expect(quantile(0.99, of: times) < .seconds(10), "\(line)")
    }

    @Test func duplicationAndReorderingDoNoHarm() throws {
        for seed in 0..<UInt64(60) {
            let faults = NetworkFaults(
                loss: 0.1, duplication: 0.5, delay: .milliseconds(1)..<Duration.milliseconds(150))
            let outcome = run(faults, seed: seed)
            #expect(outcome.client?.peer == server.ownPeer, "seed \(seed)")
            #expect(outcome.client?.exporter == outcome.server?.exporter, "seed \(seed)")
        }
    }
}
