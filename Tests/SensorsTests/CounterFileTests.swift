import DurableFiles
import FailingFiles
import Glibc
import NearbyCore
import Testing

@testable import Sensors

struct CounterFileTests {
    private let folder = CounterFolder()

    private func file(_ name: String = "rain") -> CounterFile<SystemFiles> {
        CounterFile(state: folder.path, name: name, through: SystemFiles())
    }

    @Test func aCountComesBack() throws {
        var first = file()
        let nothing = try first.load()
        #expect(nothing == .none)
        try first.save(1_234_567_890_123, now: .zero)
        #expect(folder.text("rain") == "1234567890123\n")
        var second = file()
        let count = try second.load()
        #expect(count == .count(1_234_567_890_123))
    }

    @Test func peopleMaySetIt() throws {
        for text in ["815", "815\n", "815 \r\n", "000815"] {
            folder.write("rain", text)
            var file = file()
            let content = try file.load()
            #expect(content == .count(815))
        }
    }

    @Test(arguments: ["", " ", "x", "-1", "9223372036854775808", "12 13", "\u{0}\u{0}\u{0}"])
    func whatIsNoCountIsPutAside(_ text: String) throws {
        folder.write("rain", text)
        var file = file()
        let content = try file.load()
        #expect(content == .damaged(keptAs: folder.path + "/counters/rain.damaged"))
        #expect(folder.text("rain.damaged") == text)
        #expect(folder.text("rain") == nil)
        try file.save(1, now: .zero)
        #expect(folder.text("rain.damaged") == text)
    }

    @Test func whatCannotBeReadIsNoEmptyCounter() throws {
        folder.write("rain", String(repeating: "1", count: 5_000))
        var file = file()
        #expect(throws: FileError.self) { _ = try file.load() }
        #expect(folder.text("rain")?.utf8.count == 5_000)
    }

    @Test func anyNameIsOneFileInTheFolder() {
        let names = [
            "../../etc/passwd", "a/b", ".", "Regen süd", "rain.tmp", "rain.damaged", "x\u{0}",
        ]
        let paths = names.map { file($0).path }
        #expect(Set(paths).count == names.count)
        for path in paths {
            let name = path.dropFirst(folder.path.count + "/counters/".count)
            #expect(path.hasPrefix(folder.path + "/counters/"))
            #expect(!name.contains("/") && !name.contains(".") && !name.isEmpty)
        }
        #expect(paths[1].hasSuffix("/a%2fb"))
        #expect(paths[3].hasSuffix("/Regen%20s%c3%bcd"))
    }

    @Test func itIsWrittenOnceAMinuteAndOnlyForMore() throws {
        var file = file()
        let second = Duration.seconds(1)
        #expect(file.isDue(0, now: .zero), "at the start it shows whether it can be written")
        try file.save(0, now: .zero)
        #expect(!file.isDue(0, now: .zero + second * 600))
        #expect(!file.isDue(5, now: .zero + second * 59))
        #expect(file.isBehind(5))
        #expect(file.isDue(5, now: .zero + second * 60))
        try file.save(5, now: .zero + second * 60)
        #expect(!file.isDue(4, now: .zero + second * 600), "a sample that was overtaken")
    }

    /// The power goes before each of the calls in turn.
    @Test func aPowerCutLeavesOneOfBothCounts() throws {
        for undoes in [true, false] {
            for call in 0... {
                let folder = CounterFolder()
                var before = CounterFile(
                    state: folder.path, name: "rain", through: SystemFiles())
                try before.save(41, now: .zero)
                let files = FailingFiles(.stop(call: call, undoesRenames: undoes))
                var failing = CounterFile(state: folder.path, name: "rain", through: files)
                let isSaved = (try? failing.save(42, now: .zero)) != nil
                var after = CounterFile(state: folder.path, name: "rain", through: SystemFiles())
                let content = try after.load()
                if isSaved {
                    #expect(content == .count(42))
                    break
                }
                #expect(content == .count(41) || content == .count(42), "call \(call)")
            }
        }
    }
}

/// A state directory of its own for one test, removed with it.
final class CounterFolder {
    let path: String

    init() {
        var template = Array("/tmp/rivulet-counters-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        let counters = path + "/counters"
        for name in (try? SystemFiles().list(counters)) ?? [] { unlink(counters + "/" + name) }
        rmdir(counters)
        rmdir(path)
    }

    func write(_ name: String, _ text: String) {
        mkdir(path + "/counters", 0o755)
        let file = open(path + "/counters/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        close(file)
    }

    func text(_ name: String) -> String? {
        let files = SystemFiles()
        let bytes = try? AtomicFile.read(
            path + "/counters/" + name, limit: 1 << 16, through: files)
        return (bytes ?? nil).map { String(decoding: $0, as: UTF8.self) }
    }
}
