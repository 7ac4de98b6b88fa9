import FailingFiles
import Glibc
import Testing

@testable import NodeShell

struct StateLockTests {
    @Test func theSecondIsRefusedUntilTheFirstIsGone() throws {
        try withTemporaryDirectory { folder in
            let state = folder + "/a/state"
            var first = try StateLock.acquire(state)
            #expect(first != nil)
            let refusal = refusal(of: state)
            #expect(refusal?.description.contains("(process \(getpid()))") == true)
            #expect(refusal?.description.hasPrefix(state) == true)
            first = nil
            #expect(try StateLock.acquire(state) != nil)
            #expect(names(in: state) == ["lock"])
        }
    }

    @Test func whoHasItCanBeAskedWithoutTakingIt() throws {
        try withTemporaryDirectory { state in
            #expect(StateLock.holder(of: state) == nil)
            var first = try StateLock.acquire(state)
            #expect(first != nil)
            #expect(StateLock.holder(of: state)?.hasSuffix("(process \(getpid()))") == true)
            first = nil
            #expect(StateLock.holder(of: state) == nil)
        }
    }

    @Test func whereNothingCanBeKeptThereIsNothingToLock() throws {
        #expect(try StateLock.acquire("/proc/no-such-place") == nil)
    }

    @Test func whatSomebodyElseWroteIntoTheFileNamesNobody() throws {
        try withTemporaryDirectory { state in
            let first = try StateLock.acquire(state)
            #expect(first != nil)
            for text in ["", "x", "12 ", "12 a\u{1b}[2J", "-", "99999999999999999999 a"] {
                let file = open(state + "/lock", O_WRONLY | O_TRUNC)
                _ = text.withCString { write(file, $0, strlen($0)) }
                close(file)
                let refusal = refusal(of: state)
                #expect(refusal?.description.contains("in use by another process") == true)
            }
        }
    }

    private func refusal(of state: String) -> StartError? {
        do throws(StartError) {
            _ = try StateLock.acquire(state)
            return nil
        } catch {
            return error
        }
    }
}
