import Foundation
import Nearby
import Testing

@testable import MultipeerConnectivity

struct StreamTests {
    @Test func readGivesWhatIsThere() {
        let (output, input, _) = Self.streams(capacity: 100)
        #expect(input.streamStatus == .notOpen)
        #expect(!input.hasBytesAvailable)
        input.open()
        output.open()
        #expect(output.write(Array("hello".utf8), maxLength: 5) == 5)
        #expect(Self.eventually { input.hasBytesAvailable })
        #expect(Self.read(input, upTo: 3) == "hel")
        #expect(input.hasBytesAvailable)
        #expect(Self.read(input, upTo: 10) == "lo")
        #expect(!input.hasBytesAvailable)
        #expect(input.streamStatus == .open)
    }

    @Test func readWaitsForBytes() {
        let (output, input, _) = Self.streams(capacity: 100)
        input.open()
        output.open()
        let later = Handed(value: output)
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) {
            _ = later.value.write(Array("late".utf8), maxLength: 4)
        }
        #expect(Self.read(input, upTo: 10) == "late")
    }

    @Test func readWaitsForTheEndAndThenGivesNothing() {
        let (output, input, _) = Self.streams(capacity: 100)
        input.open()
        output.open()
        let later = Handed(value: output)
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { later.value.close() }
        #expect(Self.count(input) == 0)
        #expect(input.streamStatus == .atEnd)
        #expect(Self.count(input) == 0)
    }

    /// Many programs write once, look at no count, and close.
    @Test func whatWasWrittenBeforeClosingArrivesThroughASmallWindow() {
        let (output, input, pipe) = Self.streams(capacity: 1_000)
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        output.open()
        #expect(output.write(bytes, maxLength: bytes.count) == bytes.count)
        output.close()
        #expect(output.streamStatus == .closed)
        #expect(output.write(bytes, maxLength: 1) == -1)
        input.open()
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 777)
        while case let count = input.read(&buffer, maxLength: buffer.count), count > 0 {
            received += buffer.prefix(count)
        }
        #expect(received == bytes)
        #expect(pipe.isFinished)
    }

    @Test func writeWaitsWhileTheQueueIsFull() {
        let (output, input, _) = Self.streams(capacity: 10)
        output.open()
        input.open()
        let bytes = [UInt8](repeating: 1, count: PeerOutputStream.queuedBytesMax + 100)
        #expect(output.write(bytes, maxLength: bytes.count) == PeerOutputStream.queuedBytesMax)
        let written = Guarded(0)
        let writer = Handed(value: output)
        DispatchQueue.global().async {
            for _ in 0..<30 {
                let count = writer.value.write([2], maxLength: 1)
                written.with { $0 += count }
            }
        }
        var buffer = [UInt8](repeating: 0, count: 50)
        #expect(Self.eventually { !output.hasSpaceAvailable })
        #expect(written.with { $0 } < 30)
        for _ in 0..<10 { #expect(input.read(&buffer, maxLength: 50) > 0) }
        #expect(Self.eventually { written.with { $0 } == 30 })
    }

    @Test func failureIsTheEndOfBoth() {
        let (output, input, pipe) = Self.streams(capacity: 100)
        output.open()
        input.open()
        pipe.fail(NearbyError.forTest)
        #expect(Self.count(input) == -1)
        #expect(input.streamStatus == .error)
        #expect((input.streamError as? MCError)?.code == .notConnected)
        _ = output.write([1], maxLength: 1)
        #expect(Self.eventually { output.streamStatus == .error })
        #expect(output.write([1], maxLength: 1) == -1)
        #expect((output.streamError as? MCError)?.code == .notConnected)
    }

    @Test func closingAnInputStreamThrowsAwayWhatComes() {
        let (_, input, pipe) = Self.streams(capacity: 100)
        input.close()
        #expect(pipe.isReset)
        #expect(input.streamStatus == .closed)
        #expect(Self.count(input) == -1)
    }

    @Test func unopenedStreamsGiveAndTakeNothing() {
        let (output, input, _) = Self.streams(capacity: 100)
        #expect(Self.count(input) == -1)
        #expect(output.write([1], maxLength: 1) == -1)
        #expect(!output.hasSpaceAvailable)
    }

    @Test func runLoopTellsOfOpeningBytesAndEnd() async {
        let events = await Self.onRunLoop { loop in
            let (output, input, _) = Self.streams(capacity: 100)
            output.open()
            _ = output.write(Array("one two".utf8), maxLength: 7)
            let log = EventLog { stream, event in
                guard event == .hasBytesAvailable, let input = stream as? InputStream else {
                    return
                }
                var buffer = [UInt8](repeating: 0, count: 4)
                _ = input.read(&buffer, maxLength: 4)
            }
            input.delegate = log
            input.schedule(in: loop, forMode: .default)
            input.open()
            Self.run(loop) { log.events.count >= 3 }
            output.close()
            Self.run(loop) { log.events.contains(.endEncountered) }
            input.close()
            return log.events
        }
        #expect(
            events == [.openCompleted, .hasBytesAvailable, .hasBytesAvailable, .endEncountered])
    }

    /// A screen that shows the stream may come late, or another in its place.
    @Test func whoeverBecomesTheDelegateLaterIsToldWhatThereIs() async {
        let events = await Self.onRunLoop { loop in
            let (output, input, _) = Self.streams(capacity: 100)
            output.open()
            _ = output.write(Array("one".utf8), maxLength: 3)
            output.close()
            input.open()
            input.schedule(in: loop, forMode: .default)
            Self.run(loop, seconds: 0.2) { false }
            let first = EventLog { _, _ in }
            input.delegate = first
            Self.run(loop) { first.events.count >= 2 }
            let second = EventLog { stream, _ in
                var buffer = [UInt8](repeating: 0, count: 4)
                _ = (stream as? InputStream)?.read(&buffer, maxLength: 4)
            }
            input.delegate = second
            Self.run(loop) { second.events.contains(.endEncountered) }
            input.close()
            return [first.events, second.events]
        }
        #expect(
            events == [
                [.openCompleted, .hasBytesAvailable], [.hasBytesAvailable, .endEncountered],
            ])
    }

    /// A handler that reads all at the first event must not be told of bytes that are gone: its
    /// next read would wait.
    @Test func runLoopDoesNotTellOfBytesThatWereRead() async {
        let events = await Self.onRunLoop { loop in
            let (output, input, _) = Self.streams(capacity: 100)
            output.open()
            _ = output.write(Array("one two".utf8), maxLength: 7)
            let log = EventLog { stream, event in
                guard let input = stream as? InputStream, event == .hasBytesAvailable
                else { return }
                var buffer = [UInt8](repeating: 0, count: 2)
                while input.hasBytesAvailable { _ = input.read(&buffer, maxLength: 2) }
            }
            input.delegate = log
            input.schedule(in: loop, forMode: .default)
            input.open()
            Self.run(loop, seconds: 0.3) { false }
            input.close()
            return log.events
        }
        #expect(events == [.openCompleted, .hasBytesAvailable])
    }

    @Test func runLoopTellsOfRoomUntilItIsUsedUp() async {
        let (events, written) = await Self.onRunLoop { loop in
            let (output, _, _) = Self.streams(capacity: 10)
            var written = 0
            let piece = [UInt8](repeating: 7, count: 300_000)
            let log = EventLog { stream, event in
                guard let output = stream as? OutputStream, event == .hasSpaceAvailable
                else { return }
                written += output.write(piece, maxLength: piece.count)
            }
            output.delegate = log
            output.schedule(in: loop, forMode: .default)
            output.open()
            Self.run(loop, seconds: 0.3) { false }
            output.close()
            return (log.events, written)
        }
        #expect(events.first == .openCompleted)
        #expect((4...5).contains(events.count { $0 == .hasSpaceAvailable }))
        #expect(
            (PeerOutputStream.queuedBytesMax...PeerOutputStream.queuedBytesMax + 10)
                .contains(written))
    }
}

extension StreamTests {
    private static func streams(
        capacity: Int
    ) -> (output: PeerOutputStream, input: PeerInputStream, pipe: Pipe) {
        let pipe = Pipe(capacity: capacity)
        return (PeerOutputStream(pipe), PeerInputStream(pipe), pipe)
    }

    private static func read(_ stream: InputStream, upTo count: Int) -> String {
        var buffer = [UInt8](repeating: 0, count: count)
        let count = stream.read(&buffer, maxLength: count)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }

    private static func count(_ stream: InputStream) -> Int {
        var buffer = [UInt8](repeating: 0, count: 10)
        return stream.read(&buffer, maxLength: 10)
    }

    private static func eventually(_ isTrue: () -> Bool) -> Bool {
        for _ in 0..<400 {
            if isTrue() { return true }
            Thread.sleep(forTimeInterval: 0.005)
        }
        return false
    }

    /// On a thread of its own, which has a run loop of its own.
    private static func onRunLoop<Result: Sendable>(
        _ body: @escaping @Sendable (RunLoop) -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body(RunLoop.current)) }
        }
    }

    private static func run(_ loop: RunLoop, seconds: Double = 2, until isDone: () -> Bool) {
        let end = Date(timeIntervalSinceNow: seconds)
        while !isDone(), Date() < end {
            _ = loop.run(mode: .default, before: min(end, Date(timeIntervalSinceNow: 0.05)))
        }
    }
}
