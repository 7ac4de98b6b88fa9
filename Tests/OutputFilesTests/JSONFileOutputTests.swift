import Glibc
import Outputs
import Testing

@testable import OutputFiles

struct JSONFileOutputTests {
    private let folder = Folder()

    private func output(sizeMax: Int = 1 << 20, filesMax: Int = 2) -> JSONFileOutput {
        JSONFileOutput(folder.path("a"), sizeMax: sizeMax, filesMax: filesMax)
    }

    @Test func eachReadingIsALineWhateverItIsCalled() throws {
        let output = output()
        #expect(try output.deliver(batch(1...3)) == OutputReceipt())
        output.close()
        let lines = try #require(folder.text("a")).split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    }

    /// A crash forgets the cursor: the batch comes again, cut differently, and half of a line may
    /// be there.
    @Test func whatIsThereIsNotWrittenAgain() throws {
        let first = output()
        _ = try first.deliver(batch(1...10))
        first.close()
        let whole = try #require(folder.text("a"))
        folder.write("a", String(whole.dropLast(5)))
        let second = output()
        _ = try second.deliver(batch(4...12))
        second.close()
        let expected = self.lines(batch(1...12))
        #expect(folder.text("a") == expected)
    }

    private func lines(_ batch: OutputBatch) -> String {
        String(decoding: Array(JSONLines.lines(batch).joined()), as: UTF8.self)
    }

    @Test func aLargeFileIsRenamedAndTheOldestGoes() throws {
        let output = output(sizeMax: 100)
        for number in 1...5 as ClosedRange<UInt64> {
            _ = try output.deliver(batch(number...number))
        }
        output.close()
        #expect(folder.text("a") == nil)
        #expect(folder.text("a.1") == lines(batch(5...5)))
        #expect(folder.text("a.2") == lines(batch(4...4)))
        #expect(folder.text("a.3") == nil)
    }

    @Test func afterACrashBehindARotationNothingIsThereTwice() throws {
        let first = output(sizeMax: 100)
        _ = try first.deliver(batch(1...3))
        first.close()
        let second = output(sizeMax: 1 << 20)
        _ = try second.deliver(batch(2...4))
        second.close()
        #expect(folder.text("a.1") == lines(batch(1...3)))
        #expect(folder.text("a") == lines(batch(4...4)))
    }

    @Test func whereOthersRotateItGoesOnInANewFile() throws {
        let output = output()
        _ = try output.deliver(batch(1...1))
        rename(folder.path("a"), folder.path("b"))
        _ = try output.deliver(batch(2...2))
        output.close()
        #expect(folder.text("b") == lines(batch(1...1)))
        #expect(folder.text("a") == lines(batch(2...2)))
    }
}
