import Collector
import DurableFiles
import FailingFiles
import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// Stores where SQLite can make no files beside them.
@Suite struct SealedStoreTests {
    /// A store of 600 readings that nobody has open.
    private func fill(_ path: String) throws {
        let store = try Store.open(path, .inRows).store
        var batch = Fixture.batch(Fixture.readings(count: 600), births: [try Fixture.birth()])
        batch.clocks = [Fixture.mapping()]
        try store.commit(batch)
    }

    private func count(_ database: Database) throws -> Int64? {
        try database.integer("SELECT count(*) FROM readings")
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    @Test(arguments: ["readings.sqlite", "a b%20?x=1#é.sqlite", "\u{301}.sqlite"])
    func itIsReadWithoutFilesBesideIt(name: String) throws {
        try withTemporaryDirectory { folder in
            let path = "\(folder)/\(name)"
            try fill(path)
            #expect(StorePlace(path).seal != nil)
            let database = try Database(path, .sealed)
            #expect(try count(database) == 600)
            try database.checkSeal()
            #expect(names(in: folder) == [name])
        }
    }

    @Test func aLinkLeadsToTheStoreThatIsSealed() throws {
        try withTemporaryDirectory { folder in
            let path = folder + "/readings.sqlite"
            mkdir(folder + "/links", 0o700)
            symlink(path, folder + "/links/one")
            let store = try Store.open(path).store
            #expect(StorePlace(resolving: folder + "/links/one").seal == nil)
            try store.commit(Fixture.batch([], births: [try Fixture.birth()]))
            #expect(StorePlace(resolving: folder + "/links/one").hasLog)
        }
    }

    @Test func whatACollectorHasOpenIsNotSealed() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            try store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            #expect(StorePlace(path).seal == nil)
            #expect(throws: StoreError.changed(path: path)) { try Database(path, .sealed) }
            try store.commit(Fixture.batch([], births: [try Fixture.birth()]))
        }
    }

    @Test func whoeverBeginsToWriteItIsNoticed() throws {
        try withStorePath { path in
            try fill(path)
            let database = try Database(path, .sealed)
            do {
                let store = try Store.open(path).store
                #expect(throws: StoreError.changed(path: path)) { try database.checkSeal() }
                try store.commit(Fixture.batch(Fixture.readings(first: 601, count: 600)))
            }
            // Also when it has ended.
            #expect(throws: StoreError.changed(path: path)) { try database.checkSeal() }
        }
    }

    @Test(arguments: ["-wal", "-journal"])
    func whatIsLeftToBePutInUnsealsIt(suffix: String) throws {
        try withStorePath { path in
            try fill(path)
            try write([], to: path + suffix)
            #expect(StorePlace(path).seal != nil)
            try write([1], to: path + suffix)
            #expect(StorePlace(path).seal == nil)
            #expect(StorePlace(path).hasLog == (suffix == "-wal"))
        }
    }

    /// Root may write everywhere.
    @Test(.enabled(if: geteuid() != 0)) func aFolderThatTakesNoFilesIsReadAllTheSame() throws {
        try withTemporaryDirectory { folder in
            let path = folder + "/readings.sqlite"
            try fill(path)
            chmod(folder, 0o500)
            defer { chmod(folder, 0o700) }
            var count = 0
            try StoreReader(path).readings(StoreQuery()) { _, _ in
                count += 1
                return true
            }
            #expect(count == 600)
            chmod(folder, 0o700)
            try write([1], to: path + "-wal")
            chmod(folder, 0o500)
            #expect(throws: StoreError.logLeft(path: path)) { try StoreReader(path) }
        }
    }

    @Test func aFolderThatCannotBeWrittenIsToldWithWhatToDo() throws {
        withTemporaryDirectory { folder in
            let missing = FileError(operation: "write", path: folder + "/missing", code: ENOENT)
            // To Swift that is another character than a slash.
            let path = folder + "/missing/\u{301}store.sqlite"
            #expect(throws: StoreError.folder(missing)) { try Store.open(path) }
        }
        for (code, said, advice) in [
            (ENOENT, "No such file or directory", "create it"),
            (EACCES, "Permission denied", "give it to the collector's user"),
            (EROFS, "Read-only file system", "remount its file system read-write"),
            (EIO, "Input/output error", "make sure that the collector's user can write there"),
        ] {
            let error = FileError(operation: "write", path: "/data", code: code)
            let text = StoreError.folder(error).description
            #expect(text.hasPrefix("the store's folder /data: \(said); \(advice)"))
            #expect(text.hasSuffix("or set another path (key `store`)"))
        }
    }
}
