import NearbyCore
import Testing

@testable import Nearby

struct RoomTests {
    private let slow = PeerID(high: 1, low: 1)
    private let quick = PeerID(high: 2, low: 2)
    private let room = Room()

    @Test func whoWaitsForASlowPeerDelaysNoOther() async throws {
        #expect(room.tryReserve(5 << 20, for: [slow]))
        let waiting = Task { try await room.reserve(100, for: [slow]) }
        await untilSomebodyWaits()
        #expect(room.tryReserve(100, for: [quick]))
        #expect(!room.tryReserve(100, for: [slow, quick]))
        try await room.reserve(200, for: [quick])
        room.lost(slow)
        await #expect(throws: NearbyError.self) { try await waiting.value }
    }

    @Test func whoWaitsForOnePeerGoesOnInOrder() async throws {
        #expect(room.tryReserve(5 << 20, for: [slow]))
        let first = Task { try await room.reserve(4 << 20, for: [slow]) }
        await untilSomebodyWaits()
        // There would be room for it, but not before the first.
        #expect(!room.tryReserve(1, for: [slow]))
        room.taken(5 << 20, for: [slow], isReliable: false)
        try await first.value
    }

    private func untilSomebodyWaits() async {
        for _ in 0..<200 where room.waiterCount == 0 {
            try? await Task.sleep(for: .milliseconds(5))
        }
        #expect(room.waiterCount == 1)
    }
}
