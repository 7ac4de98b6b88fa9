import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

struct SessionMachineTests {
    @Test(arguments: 0..<24 as Range<UInt64>)
    func everyMessageArrivesOnceAndInOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let faults = SessionNetwork.Faults(
            loss: Double(seed % 6) / 10, duplication: seed.isMultiple(of: 2) ? 0.2 : 0,
            jitter: seed.isMultiple(of: 3) ? .milliseconds(30) : .zero)
        var network = SessionNetwork(faults: faults, seed: seed)
        var expected: [[[UInt8]]] = [[], []]
        for step in 0..<200 {
            let side = Int.random(in: 0...1, using: &generator)
            let size = Int.random(
                in: 0..<(step.isMultiple(of: 10) ? 20_000 : 300), using: &generator)
            let message = testMessage(size, seed: seed << 32 | UInt64(step))
            expected[1 - side].append(message)
            network.handle(side, .sendReliable(message))
            let pause = generator.duration(in: .zero..<(.milliseconds(20)))
            network.run(until: network.now + pause)
        }
        let isDone = network.run(until: .distantFuture)
        #expect(isDone)
        #expect(network.delivered == expected, "seed \(seed)")
        for session in network.sessions {
            #expect(session.queuedReliableBytes == 0)
            #expect(session.nextDeadline == nil)
        }
        #expect(network.longestFrame <= Limits.segmentBytesMax)
    }

    @Test(arguments: [0, 0.1, 0.5]) func theLargestMessageArrives(loss: Double) {
        var network = SessionNetwork(faults: .init(loss: loss, delay: .milliseconds(2)), seed: 9)
        let message = testMessage(Limits.reliableMessageBytesMax, seed: 1)
        network.handle(0, .sendReliable(message))
        network.handle(0, .sendReliable([7]))
        let isDone2 = network.run(until: .distantFuture)
        #expect(isDone2)
        #expect(network.delivered[1] == [message, [7]])
        #expect(network.sessions[0].unacknowledgedMessages.isEmpty)
    }

    @Test func aQuietPathCarriesLittleMoreThanTheData() {
        var network = SessionNetwork()
        let message = testMessage(Limits.reliableMessageBytesMax, seed: 2)
        network.handle(0, .sendReliable(message))
        network.run(until: .distantFuture)
        // Segments of a thousand bytes and an acknowledgement for every second one.
        let segments = message.count / (Limits.segmentBytesMax - 20)
        #expect(network.frameCount < segments * 3 / 2 + 40)
        #expect(network.drops.isEmpty)
        // Slow start from ten segments: about 7 round trips of 20 ms and the pace's rest.
        #expect(network.now < .zero + .milliseconds(400))
    }

    @Test func unreliableMessagesPassAsTheyAre() {
        var network = SessionNetwork()
        let longest = testMessage(Limits.messageBytesMax, seed: 3)
        network.handle(0, .sendUnreliable(longest, .fresh))
        network.handle(0, .sendUnreliable([], .control))
        network.handle(0, .sendUnreliable(longest + [0], .fresh))
        network.run(until: .distantFuture)
        #expect(network.unreliable == [[], [longest, []]])
        #expect(network.drops == [.messageTooLong: 1])
    }

    @Test func framesBeginWithTheirKindAndGoAtTheirPriority() {
        var session = SessionMachine()
        let outputs = session.handle(.sendUnreliable([1], .fresh), now: .zero)
        #expect(outputs == [.frame([0xa0, 1], .fresh)])
        let reliable = session.handle(.sendReliable([2]), now: .zero)
        #expect(
            reliable == [
                .frame([0xa1, 0, 0, 1, 2], .reliable)
            ])
    }

    @Test func acknowledgementWaitsForASecondSegmentOr25Milliseconds() throws {
        var session = SessionMachine()
        let first = session.handle(try received([0xa1, 0, 0, 1, 2]), now: .zero)
        #expect(first == [.delivered([2], isReliable: true)])
        #expect(session.nextDeadline == .zero + .milliseconds(25))
        let due = session.handle(.deadlineReached, now: .zero + .milliseconds(25))
        #expect(due == [.frame([0xa2, 0, 0xa8, 0xc3, 1, 0x82, 0x80, 0x80, 1, 0, 0], .control)])
        #expect(session.nextDeadline == nil)
        let waiting = session.handle(try received([0xa1, 1, 2, 0]), now: .zero)
        #expect(waiting.count == 1)
        let both = session.handle(try received([0xa1, 2, 3, 0]), now: .zero)
        #expect(both.count == 2)
    }

    @Test func whatIsNotAcknowledgedCanMoveToAnotherChannel() {
        var network = SessionNetwork()
        network.handle(0, .sendReliable([1]))
        network.run(until: .distantFuture)
        network.isCut = true
        let rest = (2...5).map { testMessage(3_000 * $0, seed: UInt64($0)) }
        for message in rest { network.handle(0, .sendReliable(message)) }
        network.run(until: network.now + .seconds(60))
        #expect(network.sessions[0].unacknowledgedMessages == rest)
    }

    @Test func aFullQueueSaysSoAndKeepsWhatItHas() {
        var session = SessionMachine()
        let message = [UInt8](repeating: 1, count: Limits.reliableMessageBytesMax)
        var refused = 0
        for _ in 0..<10 {
            let outputs = session.handle(.sendReliable(message), now: .zero)
            if outputs.contains(.drop(.queueFullReliable)) { refused += 1 }
        }
        #expect(refused == 3)
        #expect(session.queuedReliableBytes <= Limits.reliableQueueBytesMax)
        #expect(session.unacknowledgedMessages.count == 7)
        let long = session.handle(.sendReliable(message + [0]), now: .zero)
        #expect(long == [.drop(.messageTooLong)])
    }

    @Test func aPathThatComesBackIsUsedWithinItsProbeInterval() {
        var network = SessionNetwork()
        network.handle(0, .sendReliable([1]))
        network.run(until: .distantFuture)
        network.isCut = true
        network.handle(0, .sendReliable(testMessage(100_000, seed: 4)))
        network.run(until: network.now + .seconds(3_600))
        // A dead path gets two probes each ten seconds.
        #expect(network.frameCount < 2 * 360 + 60)
        network.isCut = false
        network.run(until: network.now + .seconds(15))
        #expect(network.delivered[1].count == 2)
    }

    @Test func queuedMessagesBeyondTheWindowAllArrive() {
        var network = SessionNetwork(
            faults: .init(loss: 0.02, delay: .milliseconds(1)), seed: 11)
        let messages = (0..<7).map { testMessage(1_000_000, seed: $0) }
        for message in messages { network.handle(0, .sendReliable(message)) }
        let isDone = network.run(until: .distantFuture)
        #expect(isDone)
        #expect(network.delivered[1] == messages)
    }

    @Test func aNewPathIsUsedAtOnceHoweverLongTheOldOneWasSilent() {
        var network = SessionNetwork()
        network.handle(0, .sendReliable([1]))
        network.run(until: .distantFuture)
        network.isCut = true
        let messages = [testMessage(50_000, seed: 5), [2]]
        for message in messages { network.handle(0, .sendReliable(message)) }
        network.run(until: network.now + .seconds(100))
        network.isCut = false
        let start = network.now
        network.handle(0, .pathReset)
        network.run(until: start + .milliseconds(200))
        #expect(network.delivered[1] == [[1]] + messages)
        network.run(until: .distantFuture)
        #expect(network.sessions[0].unacknowledgedMessages.isEmpty)
        #expect(network.sessions[0].nextDeadline == nil)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func pathsThatChangeOftenNeitherLoseNorDouble(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var network = SessionNetwork(
            faults: .init(loss: 0.2, jitter: .milliseconds(30)), seed: seed)
        var expected: [[UInt8]] = []
        for step in 0..<60 as Range<UInt64> {
            let size = Int.random(in: 0..<9_000, using: &generator)
            expected.append(testMessage(size, seed: step))
            network.handle(0, .sendReliable(expected[expected.count - 1]))
            network.run(until: network.now + generator.duration(in: .zero..<(.milliseconds(40))))
            if step.isMultiple(of: 3) { network.handle(0, .pathReset) }
        }
        let isDone = network.run(until: .distantFuture)
        #expect(isDone)
        #expect(network.delivered[1] == expected, "seed \(seed)")
    }

    @Test func resettingAPathWithNothingUnderWayDoesNothing() {
        var session = SessionMachine()
        let outputs = session.handle(.pathReset, now: .zero)
        #expect(outputs.isEmpty)
        #expect(session.nextDeadline == nil)
    }
}
