import NearbyCore
import Testing

@testable import NearbyEngine

/// Viewers that routing names, of which most do not exist.
struct ViewerSlotsTests {
    private func candidate(
        _ number: UInt64, isServed: Bool = false, isOther: Bool = false, isDialed: Bool = false
    ) -> ViewerSlots.Candidate {
        ViewerSlots.Candidate(
            peer: PeerID(high: number, low: number &* 0x1234_5678_9abc_def1), isServed: isServed,
            isOther: isOther, isDialed: isDialed)
    }

    @Test func whereThereIsRoomForAllAllAreCalled() {
        var slots = ViewerSlots(salt: 5)
        let few = (1...7).map { candidate($0) }
        slots.pause(few[2].peer, now: .zero)
        #expect(slots.choose(from: few, now: .zero) == few.map(\.peer))
        #expect(slots.nextDeadline == nil)
    }

    @Test func whoIsServedKeepsItsPlaceAndWhoIsSomethingElseHasNone() {
        var slots = ViewerSlots(salt: 5)
        var all = (1...40).map { candidate($0, isDialed: $0 < 8) }
        all[30].isServed = true
        all[0].isOther = true
        let chosen = slots.choose(from: all, now: .zero)
        #expect(chosen.count == Limits.viewersMax)
        #expect(chosen.first == all[30].peer)
        #expect(Set(chosen.dropFirst()) == Set(all[1...6].map(\.peer)))
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func aTrueViewerAmongManyInventedOnesGetsItsTurn(salt: UInt64) {
        var slots = ViewerSlots(salt: salt)
        let ghosts = 1...768 as ClosedRange<UInt64>
        var all = (ghosts + [1_000]).map { candidate($0) }
        let viewer = all[768].peer
        var rounds = 0
        var now = Instant.zero
        // Seven are called for two seconds each, and those that do not answer are passed over.
        while true {
            let chosen = slots.choose(from: all, now: now)
            if chosen.contains(viewer) { break }
            for peer in chosen { slots.pause(peer, now: now) }
            rounds += 1
            now = now + .seconds(2)
            guard rounds < 200 else { break }
        }
        #expect(rounds <= 768 / Limits.viewersMax + 1)
        all[768].isServed = true
        #expect(slots.choose(from: all, now: now).contains(viewer))
    }

    @Test func whoDidNotAnswerIsCalledAgainAfterAMinute() {
        var slots = ViewerSlots(salt: 9)
        let all = (1...8).map { candidate($0) }
        let first = slots.choose(from: all, now: .zero)
        for peer in first { slots.pause(peer, now: .zero) }
        let left = slots.choose(from: all, now: .zero)
        #expect(left.count == 1 && !first.contains(left[0]))
        #expect(slots.nextDeadline == Instant.zero + Limits.viewerPause)
        let nobody = slots.takeDue(now: .zero + .seconds(59))
        #expect(!nobody)
        let somebody = slots.takeDue(now: .zero + Limits.viewerPause)
        #expect(somebody)
        let again = slots.choose(from: all, now: .zero + Limits.viewerPause)
        #expect(again.count == Limits.viewersMax)
        // Without a way to them nothing is remembered of them.
        for peer in again { slots.pause(peer, now: .zero + .seconds(70)) }
        _ = slots.choose(from: (11...20).map { candidate($0) }, now: .zero + .seconds(71))
        #expect(slots.nextDeadline == nil)
    }
}
