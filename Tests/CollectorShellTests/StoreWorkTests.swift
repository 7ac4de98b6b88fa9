import Collector
import Glibc
import NearbyLinux
import OutputShell
import Store
import Telemetry
import Testing

@testable import CollectorShell

/// On a real file, on the test's thread.
final class StoreWorkTests {
    private let folder: String
    private let path: String
    private let answers: Mailbox<StoreThread.Answer>
    private let work: StoreWork

    init() throws {
        var template = Array("/tmp/rivulet-work-XXXXXX".utf8CString)
        folder = String(cString: try #require(mkdtemp(&template)))
        path = folder + "/store/db"
        answers = try Mailbox()
        work = StoreWork(path, Store.Settings(), OutputExchange(), answers)
        mkdir(folder + "/store", 0o700)
    }

    deinit { remove(folder + "/store") }

    private func remove(_ store: String) {
        for suffix in ["", "-wal", "-shm"] { unlink(store + "/db" + suffix) }
        rmdir(store)
        rmdir(folder)
    }

    /// What was answered, without its values.
    private func answered() -> [String] {
        answers.take().map {
            switch $0 {
            case .done(.opened): "opened"
            case .done(.committed): "committed"
            case .done(.refused): "refused"
            case .untidy: "untidy"
            case .damaged: "damaged"
            case .outputs: "outputs"
            case .holds: "holds"
            }
        }
    }

    @Test func aStoreIsOpenedOnceAndWrittenTo() {
        for _ in 0..<2 {
            let isOpen = work.openIfNeeded()
            #expect(isOpen)
        }
        let isWritten = work.commit(StoreBatch())
        #expect(isWritten && answered() == ["outputs", "opened", "committed"])
    }

    @Test func whatCannotBeOpenedIsTriedAgainWithEachCommit() {
        rmdir(folder + "/store")
        let batches = [work.openIfNeeded(), work.commit(StoreBatch())]
        #expect(batches == [false, false] && answered() == ["refused", "refused"])
        mkdir(folder + "/store", 0o700)
        let isWritten = work.commit(StoreBatch())
        #expect(isWritten && answered() == ["outputs", "opened", "committed"])
    }

    @Test func aFileThatIsMovedAwayIsToldOfAndAnotherMade() {
        _ = work.openIfNeeded()
        rename(folder + "/store", folder + "/moved")
        mkdir(folder + "/store", 0o700)
        let isWritten = work.commit(StoreBatch())
        #expect(isWritten)
        #expect(answered() == ["outputs", "opened", "damaged", "outputs", "opened", "committed"])
        remove(folder + "/moved")
    }

    @Test func withoutAnOpenStoreNothingIsTidiedAndNoCursorKept() {
        work.tidy(ClockReading(rank: .none, unixOffset: .zero)) { false }
        work.keepCursors()
        work.record(mesh: [], utc: 0)
        work.use([])
        #expect(answered() == [])
    }
}
