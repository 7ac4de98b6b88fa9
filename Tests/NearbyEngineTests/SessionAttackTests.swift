import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

/// What a peer that was admitted may try.
struct SessionAttackTests {
    private func segment(_ number: UInt64, at offset: UInt64, _ data: [UInt8])
        -> SessionMachine.Input
    {
        let frame = SegmentFrame(number: number, offset: offset, data: data[...])
        return .received(.segment(frame))
    }

    @Test func noiseNeverTraps() {
        var generator = SeededGenerator(seed: 5)
        var session = SessionMachine()
        let kinds: [FrameKind] = [.message, .segment, .acknowledgement]
        for step in 0..<40_000 {
            let count = Int.random(in: 0..<24, using: &generator)
            // Small bytes are short varints: they get further than evenly spread ones.
            let small = Bool.random(using: &generator)
            let body = (0..<count).map { _ in
                UInt8.random(in: 0...(small ? 12 : 255), using: &generator)
            }
            let now = Instant(nanoseconds: Int64(step) * 100_000)
            if step.isMultiple(of: 7) { _ = session.handle(.sendReliable(body), now: now) }
            if step.isMultiple(of: 2_000) { session = SessionMachine() }
            let frame = [kinds[step % 3].rawValue] + body
            if let input = try? received(frame) { _ = session.handle(input, now: now) }
            if let deadline = session.nextDeadline, deadline <= now {
                _ = session.handle(.deadlineReached, now: now)
            }
        }
    }

    @Test func flippedFramesNeverTrapAndNothingIsDeliveredTwice() {
        var sender = SessionMachine()
        var frames: [[UInt8]] = []
        for count in 1...9 {
            for case .frame(let frame, _) in sender.handle(
                .sendReliable([UInt8](repeating: 7, count: count)), now: .zero)
            {
                frames.append(frame)
            }
        }
        #expect(frames.count == 9)
        for bit in 0..<frames[4].count * 8 {
            var receiver = SessionMachine()
            var flipped = frames
            flipped[4][bit / 8] ^= 1 << (bit % 8)
            var delivered = 0
            for frame in flipped + frames {
                guard let input = try? received(frame) else { continue }
                for case .delivered(_, true) in receiver.handle(input, now: .zero) {
                    delivered += 1
                }
            }
            // A flipped length may merge or split the messages behind it, up to one for each byte.
            #expect(delivered <= 54)
        }
    }

    @Test func dataBeyondTheWindowIsRefused() {
        var session = SessionMachine()
        let limit = UInt64(Limits.receiveWindowBytes)
        let outputs = session.handle(segment(0, at: limit, [1]), now: .zero)
        #expect(outputs == [.drop(.segmentBeyondWindow)])
        let far = segment(0, at: Limits.sessionNumberEnd - 1, [1, 2, 3])
        let beyond = session.handle(far, now: .zero)
        #expect(beyond == [.drop(.segmentBeyondWindow)])
        #expect(session.nextDeadline == nil)
        let within = session.handle(segment(0, at: limit - 1, [1]), now: .zero)
        #expect(within.isEmpty)
    }

    @Test func crumbsFillATableAndNoMore() {
        var session = SessionMachine()
        var refused = 0
        for crumb in 0..<3_000 as Range<UInt64> {
            let outputs = session.handle(segment(crumb, at: 1 + crumb * 2, [0]), now: .zero)
            if outputs.contains(.drop(.segmentTableFull)) { refused += 1 }
        }
        #expect(refused == 3_000 - Limits.receivedPiecesMax)
    }

    @Test func aLengthThatNoMessageHasEndsTheStream() {
        var session = SessionMachine()
        let huge = session.handle(segment(0, at: 0, [0xff, 0xff, 0xff, 0x7f]), now: .zero)
        #expect(huge == [.drop(.messageMalformed), .broken])
        let after = session.handle(segment(1, at: 4, [1, 1]), now: .zero)
        #expect(after == [.drop(.messageMalformed)])
        #expect(session.nextDeadline == nil)
        var padded = SessionMachine()
        let long = padded.handle(segment(0, at: 0, [0x80, 0x00]), now: .zero)
        #expect(long == [.drop(.messageMalformed), .broken])
    }

    @Test func acknowledgementOfWhatWasNeverSentIsRefused() throws {
        var session = SessionMachine()
        _ = session.handle(.sendReliable([1, 2, 3]), now: .zero)
        let frame = try #require(
            AcknowledgementFrame(ranges: [0..<2], delay: .zero, windowLimit: 0))
        let outputs = session.handle(
            .received(.acknowledgement(frame)), now: .zero)
        #expect(outputs == [.drop(.acknowledgementUnsent)])
        #expect(session.unacknowledgedMessages == [[1, 2, 3]])
    }

    @Test func aFloodOfEmptyMessagesIsDeliveredInSteps() {
        var session = SessionMachine()
        let piece = [UInt8](repeating: 0, count: 900)
        for number in (1..<10 as Range<UInt64>).reversed() {
            _ = session.handle(segment(number, at: number * 900, piece), now: .zero)
        }
        var input = segment(0, at: 0, piece)
        var counts: [Int] = []
        repeat {
            let outputs = session.handle(input, now: .zero)
            counts.append(outputs.count { if case .delivered = $0 { true } else { false } })
            input = .deadlineReached
        } while session.nextDeadline == .zero && counts.count < 20
        #expect(counts.reduce(0, +) == 9_000)
        #expect(counts.allSatisfy { $0 <= Limits.deliveriesMax })
    }

    @Test func anOldAcknowledgementDoesNotShrinkTheWindow() throws {
        var session = SessionMachine()
        let large = [UInt8](repeating: 0, count: 5_000)
        _ = session.handle(.sendReliable([1]), now: .zero)
        let frame = try #require(
            AcknowledgementFrame(ranges: [0..<1], delay: .zero, windowLimit: 0))
        let now = Instant.zero + .milliseconds(5)
        _ = session.handle(.received(.acknowledgement(frame)), now: now)
        let outputs4 = session.handle(.sendReliable(large), now: now)
        #expect(outputs4.count == 6)
    }
}
