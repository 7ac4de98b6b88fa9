import NearbyCore
import NearbyEngine
import Testing

@testable import NearbyTransfers

/// The parts beneath streams and resources, each alone.
@Suite struct BytesTests {
    @Test func whatIsLostIsSentAgainFirst() {
        var bytes = OutgoingBytes(limit: 1_000)
        bytes.append([UInt8](0..<100))
        #expect(bytes.take(most: 60, allowance: 1_000)?.range == 0..<60)
        #expect(bytes.take(most: 20, allowance: 1_000)?.range == 60..<80)
        bytes.arrived(60..<80, isLast: false)
        bytes.lost(0..<60, isLast: false)
        #expect(bytes.take(most: 40, allowance: 0)?.range == 0..<40)
        #expect(bytes.take(most: 40, allowance: 0)?.range == 40..<60)
        #expect(bytes.take(most: 40, allowance: 0) == nil)
        bytes.arrived(0..<60, isLast: false)
        #expect(bytes.start == 80)
        var writer = ByteWriter()
        bytes.write(85..<90, into: &writer)
        #expect(writer.bytes == [85, 86, 87, 88, 89])
    }

    @Test func theEndComesBehindEverything() {
        var bytes = OutgoingBytes(limit: 1_000)
        bytes.append([1, 2, 3])
        bytes.finish()
        let piece = bytes.take(most: 2, allowance: 9)
        #expect(piece?.isLast == false)
        let last = bytes.take(most: 2, allowance: 9)
        #expect(last?.range == 2..<3 && last?.isLast == true)
        bytes.lost(2..<3, isLast: true)
        bytes.arrived(0..<2, isLast: false)
        #expect(!bytes.isComplete)
        let again = bytes.take(most: 2, allowance: 0)
        #expect(again?.range == 2..<3 && again?.isLast == true)
        bytes.arrived(2..<3, isLast: true)
        #expect(bytes.isComplete)
    }

    @Test func limitsHoldNewBytesUp() {
        var bytes = OutgoingBytes(from: 10, limit: 15)
        bytes.append([UInt8](repeating: 0, count: 20))
        #expect(bytes.take(most: 100, allowance: 3)?.range == 10..<13)
        #expect(bytes.take(most: 100, allowance: 30)?.range == 13..<15)
        #expect(!bytes.isReady(allowance: 30) && bytes.isWaiting)
        bytes.raise(limit: 12)
        #expect(!bytes.isReady(allowance: 30))
        bytes.raise(limit: 40)
        #expect(bytes.take(most: 100, allowance: 30)?.range == 15..<30)
    }

    @Test(arguments: 0..<50) func piecesInAnyOrderComeOutInSequence(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let whole = (0..<2_000).map { UInt8(truncatingIfNeeded: $0) }
        var bytes = IncomingBytes()
        var result: [UInt8] = []
        for _ in 0..<4_000 where result.count < whole.count {
            // As often at the beginning as elsewhere.
            let start = max(0, Int.random(in: -90..<whole.count, using: &random))
            let end = min(whole.count, start + Int.random(in: 0...90, using: &random))
            result += try bytes.receive(
                whole[start..<end], at: UInt64(start), isLast: end == whole.count)
            while let more = bytes.takeReady() { result += more }
        }
        #expect(result == whole)
        #expect(bytes.isComplete && bytes.pieceCount == 0)
    }

    @Test func aRingKeepsItsOrder() {
        var ring = Deque<Int>()
        var next = 0
        var first = 0
        for step in 0..<1_000 {
            if step % 3 < 2 {
                ring.append(next)
                next += 1
            } else {
                #expect(ring.popFirst() == first)
                first += 1
            }
            #expect(ring.count == next - first)
            #expect(ring.last == next - 1)
        }
        #expect(ring.firstPosition { $0 >= first + 7 } == 7)
        ring[7] += 1
        #expect(ring[7] == first + 8)
    }

    @Test func numbersAreAllowedAsOthersEnd() {
        var credit = NumberCredit(most: 4)
        for number in [2, 0, 3] { credit.began(UInt64(number)) }
        #expect(credit.standing(of: 1) == .new)
        #expect(credit.standing(of: 4) == .beyond)
        credit.ended(2)
        #expect(credit.standing(of: 2) == .closed)
        #expect(credit.takeAnnouncement() == 5)
        #expect(credit.takeAnnouncement() == nil)
        #expect(credit.standing(of: 4) == .new)
    }

    // MARK: The fate of packets

    private func acknowledgement(_ numbers: Range<UInt64>...) throws -> PacketAcknowledgement {
        try #require(
            PacketAcknowledgement(of: .bulk, rising: numbers, delay: .zero, byteBudget: 999))
    }

    private func sent(_ count: Int) -> SentPackets {
        var packets = SentPackets()
        for number in 0..<count {
            _ = packets.sent(
                SentPacket(byteCount: 100, sentAt: .zero + .milliseconds(Int64(number))))
        }
        return packets
    }

    @Test func threeLaterOnesTellOfALoss() throws {
        var packets = sent(5)
        let now = Instant.zero + .milliseconds(20)
        let arrival = packets.receive(try acknowledgement(1..<4), RTTEstimator(), now: now)
        #expect(arrival?.packets.count == 3)
        #expect(arrival?.sample?.roundTrip == .milliseconds(17))
        #expect(packets.detectLosses(RTTEstimator(), now: now).packets.count == 1)
        #expect(packets.inFlightCount == 1)
        // The same news is none.
        let again = packets.receive(try acknowledgement(1..<4), RTTEstimator(), now: now)
        #expect(again?.packets.count == 0)
    }

    @Test func whatComesAfterAllGivesLaterOnesMoreTime() throws {
        var packets = sent(20)
        let now = Instant.zero + .milliseconds(20)
        _ = packets.receive(try acknowledgement(8..<9), RTTEstimator(), now: now)
        #expect(packets.detectLosses(RTTEstimator(), now: now).packets.count == 6)
        let late = packets.receive(try acknowledgement(0..<9), RTTEstimator(), now: now)
        #expect(late?.packets.filter { $0.fate == .lost }.count == 6)
        // Nine behind the largest were not lost: nine more are no reason.
        _ = packets.receive(try acknowledgement(17..<18), RTTEstimator(), now: now)
        #expect(packets.detectLosses(RTTEstimator(), now: now).packets.isEmpty)
        #expect(packets.lossDeadline != nil)
    }

    @Test func aWindowComesBackWhenItsLossesDo() {
        var window = TransferWindow()
        window.isLimiting = true
        let before = window.size
        let now = Instant.zero + .seconds(1)
        window.lost(2, sentAt: now, isPersistent: false, now: now)
        #expect(window.size == before / 2)
        window.cameBack(1)
        #expect(window.size == before / 2)
        window.cameBack(1)
        #expect(window.size == before)
        window.lost(9, sentAt: now, isPersistent: true, now: now)
        #expect(window.size == Limits.transferWindowMin)
    }

    /// A round trip of eight samples each time.
    @Test func aBrakeTellsAQueueFromJitterAndFromWhatIsNotOurs() {
        var brake = DelayBrake()
        var now = Instant.zero
        func round(_ standing: Int, flight: Int, varying: Int = 1) -> DelayBrake.Finding? {
            var finding: DelayBrake.Finding?
            for sample in 0..<8 {
                now = now + .milliseconds(1)
                finding = brake.add(
                    .milliseconds(sample == 3 ? standing : 200), sentAt: now, flight: flight,
                    burst: Limits.transferBurst, variation: .milliseconds(varying), now: now)
            }
            return finding
        }
        #expect(round(20, flight: 50_000) == .clear)
        // In slow start twice the variation is allowed for, beyond it eight times.
        #expect(round(26, flight: 50_000) == .clear)
        #expect(round(40, flight: 50_000) == .suspicion)
        #expect(round(40, flight: 50_000) == .queue(fitting: 25_000))
        #expect(round(30, flight: 50_000) == .clear)
        #expect(round(60, flight: 50_000, varying: 5) == .clear)
        // Little is under way, and the delay stands all the same: it is the path's.
        for _ in 0..<3 { #expect(round(60, flight: 4_000) == .clear) }
        #expect(round(60, flight: 100_000) == .suspicion)
        for _ in 0..<4 { #expect(round(60, flight: 4_000) == .clear) }
        #expect(round(65, flight: 100_000) == .clear)
        #expect(round(20, flight: 100_000) == .clear)
        #expect(round(60, flight: 100_000) == .suspicion)
    }
}
