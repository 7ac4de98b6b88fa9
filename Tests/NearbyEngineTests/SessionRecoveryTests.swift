import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

struct SessionRecoveryTests {
    @Test func theFirstSampleSetsTheEstimate() {
        var rtt = RTTEstimator()
        #expect(rtt.smoothed == .milliseconds(333))
        rtt.add(sample: .milliseconds(40), acknowledgementDelay: .milliseconds(25))
        #expect(rtt.smoothed == .milliseconds(40))
        #expect(rtt.variation == .milliseconds(20))
    }

    @Test func laterSamplesCountAnEighthWithoutTheReceiversDelay() {
        var rtt = RTTEstimator()
        rtt.add(sample: .milliseconds(40), acknowledgementDelay: .zero)
        // 80 − 20 = 60: variation (3·20 + 20)/4, smoothed (7·40 + 60)/8.
        rtt.add(sample: .milliseconds(80), acknowledgementDelay: .milliseconds(20))
        #expect(rtt.variation == .milliseconds(20))
        #expect(rtt.smoothed == .microseconds(42_500))
        #expect(rtt.minimum == .milliseconds(40))
    }

    @Test func aDelayBeyondThePromiseCountsUpToIt() {
        var liar = RTTEstimator()
        var honest = RTTEstimator()
        for (delay, keep) in [(Duration.seconds(3_600), 0), (.milliseconds(25), 1)] {
            var rtt = RTTEstimator()
            rtt.add(sample: .milliseconds(40), acknowledgementDelay: .zero)
            rtt.add(sample: .milliseconds(80), acknowledgementDelay: delay)
            if keep == 0 { liar = rtt } else { honest = rtt }
        }
        #expect(liar == honest)
    }

    @Test func lossDelayIsNineEighths() {
        var rtt = RTTEstimator()
        rtt.add(sample: .milliseconds(80), acknowledgementDelay: .zero)
        #expect(rtt.lossDelay == .milliseconds(90))
        var quick = RTTEstimator()
        quick.add(sample: .microseconds(50), acknowledgementDelay: .zero)
        #expect(quick.lossDelay == RTTEstimator.granularity)
    }

    @Test func probeTimeoutDoublesUpToItsEnd() {
        var rtt = RTTEstimator()
        rtt.add(sample: .milliseconds(100), acknowledgementDelay: .zero)
        // 100 + 4·50 + 25
        #expect(rtt.probeTimeout(afterProbes: 0) == .milliseconds(325))
        #expect(rtt.probeTimeout(afterProbes: 2) == .milliseconds(1_300))
        #expect(rtt.probeTimeout(afterProbes: 1_000) == Limits.probeTimeoutMax)
    }

    @Test func slowStartDoublesAndLossHalvesOncePerRoundTrip() {
        var window = CongestionWindow()
        for _ in 0..<10 { window.sent(1_000) }
        #expect(!window.admits(1))
        for _ in 0..<5 { window.acknowledged(1_000, sentAt: .zero, wasUsed: true) }
        #expect(window.size == 15_000)
        let now = Instant.zero + .milliseconds(20)
        window.lost(sentAt: .zero, isPersistent: false, now: now)
        window.lost(sentAt: .zero + .milliseconds(1), isPersistent: false, now: now)
        #expect(window.size == 7_500)
        window.lost(sentAt: now + .milliseconds(1), isPersistent: true, now: now)
        #expect(window.size == Limits.congestionWindowMin)
    }

    @Test func avoidanceAddsOneSegmentForEachWindow() {
        var window = CongestionWindow()
        window.lost(sentAt: .zero, isPersistent: false, now: .zero)
        #expect(window.size == 5_000)
        let later = Instant.zero + .milliseconds(1)
        for _ in 0..<5 {
            for _ in 0..<5 { window.sent(1_000) }
            for _ in 0..<5 { window.acknowledged(1_000, sentAt: later, wasUsed: true) }
        }
        // 25,000 bytes are windows of 5,000, 6,000 and 7,000 and a part of the next.
        #expect(window.size == 8_000)
    }

    @Test func anIdleWindowDoesNotGrow() {
        var window = CongestionWindow()
        for _ in 0..<100 {
            window.sent(1_000)
            window.acknowledged(1_000, sentAt: .zero, wasUsed: window.isUsed)
        }
        #expect(window.size == Limits.congestionWindowInitial)
    }

    @Test func threeLaterSegmentsProveALoss() throws {
        var sender = SessionMachine()
        for byte in 0..<5 as Range<UInt8> { _ = sender.handle(.sendReliable([byte]), now: .zero) }
        let now = Instant.zero + .milliseconds(10)
        let outputs = sender.handle(try acknowledgement([2..<4]), now: now)
        // Number 0 is three behind 3; number 1 is not yet lost.
        #expect(outputs == [.frame([0xa1, 5, 0, 1, 0], .reliable)])
        // 9/8 of 10 ms after it was sent, it is.
        let certain = Instant.zero + .microseconds(11_250)
        #expect(sender.nextDeadline == certain)
        let later = sender.handle(.deadlineReached, now: certain)
        #expect(
            later == [
                .frame([0xa1, 6, 2, 1, 1], .reliable)
            ])
    }

    @Test func silenceIsProbedWithTheOldestAndTwiceAsSlowlyEachTime() {
        var sender = SessionMachine()
        _ = sender.handle(.sendReliable([9]), now: .zero)
        // 333 + 4·166.5 + 25
        let first = Instant.zero + .milliseconds(1_024)
        #expect(sender.nextDeadline == first)
        let early = sender.handle(.deadlineReached, now: first - .nanoseconds(1))
        #expect(early.isEmpty)
        let outputs = sender.handle(.deadlineReached, now: first)
        #expect(outputs == [.frame([0xa1, 1, 0, 1, 9], .reliable)])
        #expect(sender.nextDeadline == first + .milliseconds(2_048))
    }

    private func acknowledgement(_ ranges: [Range<UInt64>]) throws -> SessionMachine.Input {
        let frame = try #require(
            AcknowledgementFrame(ranges: ranges, delay: .zero, windowLimit: 2 << 20))
        return .received(.acknowledgement(frame))
    }
}
