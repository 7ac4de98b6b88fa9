import Foundation
import Nearby
import Testing

@testable import MultipeerConnectivity

/// Who has nothing to write at the moment still hears that the peer has gone.
struct OutputStreamEndTests {
    @Test func idleStreamHearsOfItsEnd() {
        let pipe = Pipe(capacity: 100)
        let output = PeerOutputStream(pipe)
        let log = EventLog()
        output.delegate = log
        let loop = RunLoop.current
        output.schedule(in: loop, forMode: .default)
        output.open()
        run(loop) { log.events.contains(.hasSpaceAvailable) }
        #expect(output.streamStatus == .open)
        pipe.fail(NearbyError.forTest)
        run(loop) { log.events.contains(.errorOccurred) }
        #expect(log.events == [.openCompleted, .hasSpaceAvailable, .errorOccurred])
        #expect(output.streamStatus == .error)
        #expect((output.streamError as? MCError)?.code == .notConnected)
        #expect(output.write([1], maxLength: 1) == -1)
        output.close()
    }

    @Test func streamThatWasClosedWellHasNoError() {
        let pipe = Pipe(capacity: 100)
        let output = PeerOutputStream(pipe)
        output.open()
        #expect(output.write([1, 2], maxLength: 2) == 2)
        output.close()
        for _ in 0..<400 where !pipe.isFinished { Thread.sleep(forTimeInterval: 0.005) }
        #expect(pipe.isFinished)
        pipe.fail(NearbyError.forTest)
        Thread.sleep(forTimeInterval: 0.05)
        #expect(output.streamError == nil)
        #expect(output.streamStatus == .closed)
    }

    private func run(_ loop: RunLoop, until isSo: () -> Bool) {
        let end = Date(timeIntervalSinceNow: 5)
        while !isSo(), Date() < end {
            _ = loop.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
        }
    }
}
