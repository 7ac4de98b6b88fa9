import Collector
import FailingFiles
import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Store

@Suite struct DamageTests {
    /// A store with readings, windows, gaps and clocks, as bytes.
    private func goodFile() throws -> [UInt8] {
        try withStorePath { path in
            try fill(path)
            return bytes(of: path)
        }
    }

    private func fill(_ path: String) throws {
        let store = try Store.open(path, .inRows).store
        var batch = Fixture.batch(
            Fixture.readings(count: 600), births: [try Fixture.birth()])
        batch.clocks = [Fixture.mapping()]
        batch.gaps = [
            StoreBatch.PeerGap(
                peer: Fixture.peer(1),
                gap: Gap(run: RunID(value: 0x100), range: 700..<710, reason: .memoryFull))
        ]
        try store.commit(batch)
        let clock = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)
        _ = try store.tidy(now: Fixture.at(10_000_000), clock: clock)
        try store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Everything that a store is used for. Errors of the store are as good as results.
    private func exercise(_ path: String) throws {
        var settings = Store.Settings()
        settings.keep = .seconds(3_600)
        do {
            let store = try Store.open(path, settings).store
            let clock = ClockReading(rank: .satellite, unixOffset: Fixture.unixOffset)
            for _ in 0..<3 {
                do {
                    try store.commit(
                        Fixture.batch(
                            Fixture.readings(first: 580, count: 40),
                            births: [try Fixture.birth()]))
                    _ = try store.tidy(now: Fixture.at(20_000_000), clock: clock)
                } catch let error as StoreError {
                    #expect(!error.description.isEmpty)
                }
            }
            let reader = try StoreReader(path)
            var printer = StorePrinter(.json)
            var query = StoreQuery()
            query.from = 0
            try reader.readings(query) { !printer.line($0, $1).isEmpty }
            for width in [10, 60] as [Int64] {
                try reader.windows(query, width: .seconds(width)) { !printer.line($0, $1).isEmpty }
            }
            for gap in try reader.gaps(query) { _ = printer.line(gap) }
            for run in try reader.runs(query) { _ = printer.line(run) }
        } catch let error as StoreError {
            #expect(!error.description.isEmpty)
        }
    }

    @Test func flippedBytesNeverTrap() throws {
        let good = try goodFile()
        var generator = SeededGenerator(seed: 11)
        for round in 0..<150 {
            var bad = good
            // Some in the first page, which describes the rest, some anywhere.
            let reach = round % 3 == 0 ? 4_096 : bad.count
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                bad[Int.random(in: 0..<reach, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            try withStorePath { path in
                write(bad, to: path)
                try exercise(path)
            }
        }
    }

    @Test func aTruncatedFileIsSetAside() throws {
        let good = try goodFile()
        // A last page that is cut counts as one for SQLite, which fills it with zeros.
        try withStorePath { path in
            write(Array(good.dropLast(100)), to: path)
            try exercise(path)
        }
        for count in stride(from: 1, to: good.count - 4_096, by: 3_001) {
            try withStorePath { path in
                write(Array(good.prefix(count)), to: path)
                let opened = try Store.open(path)
                #expect(opened.diagnostics.count == 1)
                #expect(bytes(of: path + ".damaged-1").count == count)
                #expect(opened.runs.isEmpty)
            }
        }
    }

    @Test func whatIsNoDatabaseIsSetAsideAndANoticeSaysSo() throws {
        try withStorePath { path in
            let text = [UInt8](repeating: UInt8(ascii: "x"), count: 5_000)
            for number in 1...3 {
                write(text, to: path)
                write([1], to: path + "-wal")
                let opened = try Store.open(path)
                let aside = "\(path).damaged-\(number)"
                #expect(opened.diagnostics.count == 1)
                #expect(opened.diagnostics.first?.contains(path) == true)
                #expect(opened.diagnostics.first?.contains(aside) == true)
                #expect(bytes(of: aside) == text)
                try opened.store.commit(
                    Fixture.batch(Fixture.readings(count: 3), births: [try Fixture.birth()]))
            }
        }
    }

    @Test func aDatabaseOfAnotherProgramIsSetAsideUnchanged() throws {
        try withStorePath { path in
            for sql in ["CREATE TABLE notes (text)", "PRAGMA application_id = 7"] {
                unlink(path)
                try Database(path, .writing).execute(sql)
                let before = bytes(of: path)
                let opened = try Store.open(path)
                #expect(opened.diagnostics.first?.contains("another program") == true)
                let aside = names(in: String(path.dropLast("/readings.sqlite".count)))
                    .filter { $0.contains(".foreign-") && !$0.hasSuffix("wal") }
                #expect(bytes(of: path.replacingName(with: try #require(aside.last))) == before)
                for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
            }
        }
    }

    @Test func aLaterVersionsFileIsLeftAlone() throws {
        try withStorePath { path in
            try fill(path)
            try Database(path, .writing).execute("PRAGMA user_version = 1000")
            #expect(throws: StoreError.newer(path: path, version: 1_000)) { try Store.open(path) }
            #expect(throws: StoreError.newer(path: path, version: 1_000)) { try StoreReader(path) }
        }
    }

    @Test(arguments: [false, true]) func thatOutputsBeginAnewIsTold(isKnown: Bool) throws {
        try withStorePath { path in
            var settings = Store.Settings()
            settings.outputs = ["b", "a"].map {
                OutputRegistration(name: $0, wantsHistory: true, hold: .zero)
            }
            if isKnown {
                try fill(path)
            } else {
                write([UInt8](repeating: 1, count: 999), to: path)
            }
            let opened = try Store.open(path, settings, isDamaged: isKnown)
            #expect(opened.diagnostics.count == 2)
            #expect(
                opened.diagnostics.last?.hasPrefix(
                    "the outputs (a, b) begin anew with the new store") == true)
            #expect(opened.diagnostics.last?.hasSuffix("\(path).damaged-1 alone") == true)
            #expect(try Store.open(path, settings).diagnostics.isEmpty)
        }
    }

    @Test func afterDamageTheCallerOpensAnew() throws {
        try withStorePath { path in
            try fill(path)
            let opened = try Store.open(path, isDamaged: true)
            #expect(opened.runs.isEmpty)
            #expect(opened.diagnostics.first?.contains(".damaged-1") == true)
            #expect(try Store.open(path).diagnostics.isEmpty)
        }
    }

    @Test func pathsThatTakeNoFileAreRefusedClearly() throws {
        withTemporaryDirectory { directory in
            do {
                _ = try Store.open(directory + "/missing/readings.sqlite")
                Issue.record("opened below a directory that is not there")
            } catch {
                #expect("\(error)".contains("/missing: No such file or directory"))
            }
            #expect(throws: StoreError.notAFile(path: directory)) { try Store.open(directory) }
            symlink("/nowhere", directory + "/link")
            #expect(throws: StoreError.notAFile(path: directory + "/link")) {
                try Store.open(directory + "/link")
            }
            #expect(throws: StoreError.self) { try StoreReader(directory + "/none.sqlite") }
        }
    }

    private func bytes(of path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }

    private func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "w") else { return }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }
}

extension String {
    /// Another file in the same directory.
    fileprivate func replacingName(with name: String) -> String {
        guard let slash = lastIndex(of: "/") else { return name }
        return self[...slash] + name
    }
}
