import Collector
import Fleet
import Glibc
import NearbyCore
import Testing

@testable import CollectorShell
@testable import NearbyLinux

/// On a pipe that nobody reads.
struct WindowOutputTests {
    private let unixOffset = Duration.seconds(1_795_239_900)
    private let pipe: TestPipe
    private let lines: Mailbox<String>
    private let output: WindowOutput

    init() throws {
        // As the program does.
        signal(SIGPIPE, SIG_IGN)
        pipe = try TestPipe()
        lines = try Mailbox()
        var options = CollectOptions()
        options.format = .csv
        output = WindowOutput(
            options, words: .none, title: "", width: .seconds(10),
            writer: try PrintThread(pipe.writer, bytesMax: 100_000),
            log: StandardErrorLog(threshold: .information, prefix: .none, screen: lines))
    }

    private func show(_ window: Window) -> Bool {
        output.show(window, unixOffset: unixOffset, now: .zero) != nil
    }

    /// What is printed, read to its end; nil if it was not written.
    private func printed() -> [UInt8]? {
        var bytes: [UInt8] = []
        let isWritten = output.finish {
            bytes += pipe.readAvailable()
            return false
        }
        return isWritten ? bytes + pipe.readAvailable() : nil
    }

    @Test(arguments: [
        (["zz*"], [], "--node matches none of those received (north)"),
        (
            ["n*"], ["t*"],
            "--channel matches none of those received (channel-1, channel-2, channel-3, "
                + "channel-4, channel-5 and 2 more)"
        ),
    ])
    func thatAllIsFilteredOutIsToldOnce(
        _ nodes: [String], _ channels: [String], _ expected: String
    ) throws {
        var options = CollectOptions()
        options.format = .csv
        options.nodes = nodes.map(Glob.init)
        options.channels = channels.map(Glob.init)
        let output = WindowOutput(
            options, words: .none, title: "", width: .seconds(10),
            writer: try PrintThread(pipe.writer, bytesMax: 100_000),
            log: StandardErrorLog(threshold: .information, prefix: .none, screen: lines))
        for _ in 0..<3 {
            let shown = output.show(try window(channelCount: 7), unixOffset: unixOffset, now: .zero)
            #expect(shown == nil)
        }
        #expect(lines.take() == ["nothing is shown: " + expected])
    }

    @Test func whatIsLeftOutIsWholeWindowsCountedAndToldOnce() throws {
        let window = try window(channelCount: 100)
        var shownCount = 0
        while shownCount < 1_000, show(window) { shownCount += 1 }
        #expect(!show(window))
        #expect(output.droppedCount == 2)
        let told = "nobody reads standard output: windows are left out until somebody does"
        #expect(lines.take() == [told])
        let text = String(decoding: try #require(printed()), as: UTF8.self)
        #expect(lines.take() == ["standard output is read again: 2 windows or lines were left out"])
        #expect(text.utf8.count { $0 == UInt8(ascii: "\n") } == 1 + 100 * shownCount)
        #expect(text.hasPrefix("start,") && text.hasSuffix("\r\n"))
        #expect(show(window))
        #expect(printed() != nil)
        #expect(output.droppedCount == 2)
        #expect(lines.take() == [])
    }

    @Test func theLoopHearsOfTheReader() throws {
        let loop = try EventLoop()
        try output.open(loop)
        let window = try window(channelCount: 100)
        while show(window) {}
        var timer: EventLoop.TimerID?
        var told: [String] = []
        timer = loop.addTimer { [unowned loop] now in
            _ = pipe.readAvailable()
            told += lines.take()
            if told.count == 2 {
                pipe.closeReader()
                _ = show(window)
            } else if let timer {
                loop.set(timer, to: now + .milliseconds(1))
            }
        }
        if let timer { loop.set(timer, to: .zero) }
        let end = MonotonicClock.now() + .seconds(20)
        try loop.run(until: end)
        #expect(told.last == "standard output is read again: 1 window or line was left out")
        #expect(MonotonicClock.now() < end, "nobody reads any more")
        #expect(output.fault == nil, "and that is no fault")
    }

    @Test func whereTheReaderWentAwayNobodyReadsAgain() throws {
        let window = try window(channelCount: 100)
        while show(window) {}
        _ = lines.take()
        pipe.closeReader()
        #expect(output.finish { false })
        #expect(lines.take() == [])
    }

    @Test func linesOfTheLogAreQueuedAmongTheWindows() throws {
        #expect(show(try window(channelCount: 1)))
        output.add(line: "north has 12 channels")
        let text = String(decoding: try #require(printed()), as: UTF8.self)
        #expect(text.hasSuffix("\r\nnorth has 12 channels\n"))
    }

    @Test func aSignalDoesNotWaitForAReaderThatStandsStill() throws {
        let window = try window(channelCount: 100)
        while show(window) {}
        _ = lines.take()
        #expect(!output.finish(patience: .milliseconds(20)) { true })
        #expect(lines.take() == ["nobody reads standard output: what was waiting for it is lost"])
        #expect(printed() != nil)
    }

    @Test func whereOneWindowIsAskedForTheFirstWithReadingsIsTheLast() throws {
        var options = CollectOptions()
        options.format = .csv
        options.once = true
        let output = WindowOutput(
            options, words: .none, title: "", width: .seconds(10),
            writer: try PrintThread(pipe.writer), log: StandardErrorLog(threshold: .error))
        let window = try window(channelCount: 1)
        #expect(!output.isDone)
        for isFirst in [true, false] {
            let shown = output.show(window, unixOffset: unixOffset, now: .zero)
            #expect(output.isDone && (shown != nil) == isFirst)
        }
        // Nothing is written any more when the pipe's number is another one's.
        #expect(output.finish { false })
    }
}
