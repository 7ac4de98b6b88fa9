import CVirtualClock
import NearbyCore
import NearbyEngine
import Testing

@testable import NearbyDTLS

@Suite struct ListenTests {
    private let client = OpenSSLCryptography(key: .generate())
    private let server = OpenSSLCryptography(key: .generate())

    /// A ClientHello with the cookie that `source` was given at `now`.
    private func helloWithCookie(for source: [UInt8], now: Instant) throws -> [UInt8] {
        let channel = client.makeClient(now: now)
        let hello = try #require(channel.takeOutgoing().first)
        guard case .reply(let request) = server.listen(hello[...], from: source, now: now) else {
            throw ManualPair.Unexpected()
        }
        #expect(request.count <= hello.count, "no amplification")
        channel.receive(request[...], now: now)
        return try #require(channel.takeOutgoing().first)
    }

    private func isAccepted(_ hello: [UInt8], from source: [UInt8], now: Instant) -> Bool {
        if case .accepted = server.listen(hello[...], from: source, now: now) { return true }
        return false
    }

    @Test func cookieCountsForItsOwnAddressOnly() throws {
        let hello = try helloWithCookie(for: [1, 2, 3], now: .zero)
        #expect(!isAccepted(hello, from: [1, 2, 4], now: .zero))
        #expect(!isAccepted(hello, from: [], now: .zero))
        #expect(isAccepted(hello, from: [1, 2, 3], now: .zero))
    }

    @Test func cookieCountsForAMinuteAndNotForThree() throws {
        let start = Instant.zero + .seconds(59)
        let hello = try helloWithCookie(for: [1], now: start)
        #expect(isAccepted(hello, from: [1], now: start + .seconds(2)))
        #expect(isAccepted(hello, from: [1], now: start + .seconds(60)))
        #expect(!isAccepted(hello, from: [1], now: start + .seconds(180)))
    }

    @Test func cookieOfAnotherServerIsAnsweredWithANewOne() throws {
        let hello = try helloWithCookie(for: [1], now: .zero)
        let other = OpenSSLCryptography(key: .generate())
        guard case .reply = other.listen(hello[...], from: [1], now: .zero) else {
            Issue.record("not answered")
            return
        }
    }

    @Test func whatIsNoClientHelloIsDroppedWithAReason() {
        for (name, bytes) in harmfulRecords {
            guard case .dropped = server.listen(bytes[...], from: [1], now: .zero) else {
                Issue.record("\(name)")
                continue
            }
        }
        guard case .dropped(.handshakeRecordFiltered) = server.listen([], from: [1], now: .zero)
        else {
            Issue.record("an empty datagram")
            return
        }
    }

    @Test func everyTruncationAndEveryFlippedBitOfAClientHelloIsSurvived() throws {
        let hello = try helloWithCookie(for: [1], now: .zero)
        for count in 0..<hello.count {
            #expect(!isAccepted(Array(hello.prefix(count)), from: [1], now: .zero))
        }
        for bit in 0..<hello.count * 8 {
            var flipped = hello
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            _ = server.listen(flipped[...], from: [1], now: .zero)
        }
        #expect(isAccepted(hello, from: [1], now: .zero))
    }

    /// The bound leaves room for the tests beside this one; a state of its own takes 47 KB an
    /// address.
    @Test func nothingIsKeptForUnprovedAddresses() throws {
        let hello = try #require(client.makeClient(now: .zero).takeOutgoing().first)
        _ = server.listen(hello[...], from: [0], now: .zero)
        // The heap is that of all tests beside this one too: what is kept shows in every round.
        var least = Int.max
        for round in 0..<5 as Range<UInt64> {
            let before = Int(heap_bytes_in_use())
            for number in round * 4_000..<(round + 1) * 4_000 {
                let source = TransportAddress.simulated(number).bytes
                guard case .reply = server.listen(hello[...], from: source, now: .zero) else {
                    Issue.record("\(number)")
                    return
                }
            }
            least = min(least, Int(heap_bytes_in_use()) - before)
        }
        print("4000 listens: \(least) bytes more")
        #expect(least < 4_000 * 400)
    }
}
