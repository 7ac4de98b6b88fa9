import Glibc
import NearbyCore
import Testing

@testable import CollectorShell

/// With a real thread, and a pipe that nobody reads.
struct PrintThreadTests {
    /// More than a pipe takes.
    private static let bytesMax = 200_000

    private let pipe: TestPipe
    private let printer: PrintThread

    init() throws {
        // As the program does.
        signal(SIGPIPE, SIG_IGN)
        pipe = try TestPipe()
        printer = try PrintThread(pipe.writer, bytesMax: Self.bytesMax)
    }

    /// Ten thousand bytes.
    private func text(_ number: Int) -> String {
        let name = "\(number) "
        return name + String(repeating: ".", count: 9_999 - name.utf8.count) + "\n"
    }

    /// Returns those that found room.
    private func fill() -> [String] {
        var taken: [String] = []
        while taken.count < 1_000 {
            let text = text(taken.count)
            guard printer.post(text) else { break }
            taken.append(text)
        }
        return taken
    }

    private func readAll() -> String {
        var bytes: [UInt8] = []
        let isWritten = printer.finish(patience: .seconds(10)) {
            bytes += pipe.readAvailable()
            return false
        }
        #expect(isWritten)
        return String(decoding: bytes + pipe.readAvailable(), as: UTF8.self)
    }

    @Test func textsKeepTheirOrderAndTheirBytes() {
        let texts = (0..<15).map { "\($0) é\r\n" + String(repeating: "x", count: $0 * 1_000) }
        for text in texts { #expect(printer.post(text)) }
        #expect(pipe.read(texts.joined().utf8.count) == texts.joined())
        #expect(readAll() == "")
        #expect(printer.fault == nil)
    }

    @Test func aReaderThatStandsStillHoldsUpNobody() {
        let taken = fill()
        #expect(taken.count >= 20, "as many as the limit allows")
        #expect(taken.count <= 27, "and what the pipe has taken")
        for number in 0..<100 { #expect(!printer.post(text(number)), "one gap") }
        #expect(pipe.read(taken.joined().utf8.count) == taken.joined(), "whole, in order")
        #expect(printer.news.next() == [.resumed])
        #expect(printer.post("after\n"))
        #expect(pipe.read(6) == "after\n")
    }

    @Test func thereIsRoomAgainOnlyWhenAllIsWritten() {
        let taken = fill()
        // The pipe holds this much, and the rest still waits.
        #expect(pipe.read(10_000 * (taken.count - 8)).hasPrefix("0 "))
        #expect(!printer.post(text(0)))
        #expect(readAll().utf8.count == 80_000)
        #expect(printer.news.next() == [.resumed])
    }

    @Test func aTextBeyondTheLimitIsTakenWhereNothingWaits() {
        let text = String(repeating: "x", count: 2 * Self.bytesMax)
        #expect(printer.post(text))
        #expect(!printer.post("y"))
        #expect(pipe.read(text.utf8.count) == text)
        #expect(printer.news.next() == [.resumed])
    }

    @Test func theNewestPictureReplacesThoseThatWait() {
        let first = String(repeating: "1", count: 100_000)
        printer.postNewest(first)
        // It is being written.
        #expect(pipe.read(1) == "1")
        for digit in 2...9 {
            printer.postNewest(String(repeating: "\(digit)", count: Self.bytesMax))
        }
        #expect(pipe.read(99_999) == first.dropFirst())
        #expect(readAll() == String(repeating: "9", count: Self.bytesMax))
    }

    @Test func aReaderThatGoesAwayIsTold() {
        let taken = fill()
        #expect(taken.count >= 20)
        pipe.closeReader()
        #expect(printer.news.next() == [.failed])
        #expect(printer.fault == EPIPE)
        #expect(printer.post("nobody misses it"))
        #expect(printer.finish(patience: .zero) { true })
    }

    @Test func aFullDiskIsTold() throws {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        let printer = try PrintThread(full)
        #expect(printer.post("text\n"))
        #expect(printer.news.next() == [.failed])
        #expect(printer.fault == ENOSPC)
    }

    @Test func aPipeThatDoesNotBlockIsWaitedFor() {
        let flags = fcntl(pipe.writer, F_GETFL)
        #expect(fcntl(pipe.writer, F_SETFL, flags | O_NONBLOCK) == 0)
        let text = String(repeating: "x", count: 150_000)
        #expect(printer.post(text))
        #expect(pipe.read(text.utf8.count) == text)
        #expect(printer.fault == nil)
    }

    @Test func theEndWaitsForAllButNotForAReaderThatStandsStill() {
        let taken = fill()
        #expect(!printer.finish(patience: .milliseconds(20)) { true })
        #expect(readAll() == taken.joined(), "without haste")
    }
}
