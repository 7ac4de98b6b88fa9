import NearbyCore
import NearbyGroups
import Synchronization
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

    @Test func aPeerThatHoldsMessagesBackTakesUnreliableOnes() async throws {
        let session = SessionNumber(value: 1)
        room.hold(slow, in: session, true)
        #expect(!room.tryReserve(1, for: [slow]))
        let waiting = Task { try await room.reserve(1, for: [slow]) }
        await untilSomebodyWaits()
        #expect(room.tryReserve(1, for: [slow], isReliable: false))
        #expect(room.tryReserve(1, for: [quick]))
        room.hold(slow, in: SessionNumber(value: 2), false)
        #expect(room.waiterCount == 1)
        room.hold(slow, in: session, false)
        try await waiting.value
    }

    @Test func whoIsLostHoldsNothingBackAnyMore() {
        let session = SessionNumber(value: 1)
        room.hold(slow, in: session, true)
        room.lost(slow)
        #expect(room.tryReserve(1, for: [slow]))
        room.hold(slow, in: session, true)
        room.forget(session)
        #expect(room.tryReserve(1, for: [slow]))
    }

    @Test func aQueueTellsOnceThatItWasDrained() async {
        let queue = EventQueue<Int>(count: 64, bytes: 1_600)
        let told = Mutex(0)
        for value in 0..<4 { queue.push(value, bytes: 30) }
        #expect(queue.isPiledUp)
        queue.whenDrained { told.withLock { $0 += 1 } }
        _ = await queue.next()
        #expect(told.withLock { $0 } == 0)
        for _ in 0..<3 { _ = await queue.next() }
        #expect(told.withLock { $0 } == 1)
        #expect(!queue.isPiledUp)
        queue.whenDrained { told.withLock { $0 += 1 } }
        #expect(told.withLock { $0 } == 2)
    }

    private func untilSomebodyWaits() async {
        for _ in 0..<200 where room.waiterCount == 0 {
            try? await Task.sleep(for: .milliseconds(5))
        }
        #expect(room.waiterCount == 1)
    }
}
