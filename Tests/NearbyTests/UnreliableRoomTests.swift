import NearbyCore
import NearbyGroups
import Testing

@testable import Nearby

/// Messages that may be lost, beside reliable ones that wait.
struct UnreliableRoomTests {
    private let peer = PeerID(high: 1, low: 1)
    private let room = Room()

    @Test func whatTheNodeKeepsLeavesRoomForUnreliableOnes() async throws {
        #expect(room.tryReserve(6 << 20, for: [peer]))
        #expect(!room.tryReserve(100, for: [peer], isReliable: false))
        room.taken(6 << 20, for: [peer], isReliable: true)
        #expect(!room.tryReserve(100, for: [peer]))
        #expect(room.tryReserve(100, for: [peer], isReliable: false))
        try await room.reserve(100, for: [peer], isReliable: false)
    }

    /// However many there are, no more than this waits for the background thread.
    @Test func unreliableOnesHaveALimitOfTheirOwn() {
        room.update(peer, queued: 6 << 20)
        var count = 0
        while count < 10_000, room.tryReserve(900, for: [peer], isReliable: false) { count += 1 }
        #expect(count == Room.bytesMax / (900 + 128))
        room.taken(900, for: [peer], isReliable: false)
        #expect(room.tryReserve(900, for: [peer], isReliable: false))
    }
}
