import Glibc
import Outputs
import Testing

@testable import OutputFiles

struct LineFileTests {
    private let folder = Folder()

    private func fault(_ body: () throws(OutputFault) -> Void) -> OutputFault? {
        do throws(OutputFault) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func linesAreAddedBehindWhatIsThere() throws {
        folder.write("a", "{1}\n")
        let file = try LineFile(folder.path("a"))
        #expect(file.byteCount == 4)
        try file.append(Array("{2}\n{3}\n".utf8))
        #expect(folder.text("a") == "{1}\n{2}\n{3}\n")
        #expect(file.byteCount == 12)
    }

    @Test(arguments: [
        ("", ""), ("{1}\n", "{1}\n"), ("{1}\n{2", "{1}\n"), ("{1", ""),
        ("{1}\n{2}\n{", "{1}\n{2}\n"),
    ])
    func halfOfALineIsRemoved(_ before: String, _ after: String) throws {
        folder.write("a", before)
        let file = try LineFile(folder.path("a"))
        #expect(try file.repairedEnd(1_000) == Array(after.utf8))
        #expect(folder.text("a") == after)
        #expect(file.byteCount == after.utf8.count)
    }

    @Test func onlyTheEndIsRead() throws {
        folder.write("a", "{1}\n{2}\n{3}\n")
        #expect(try LineFile(folder.path("a")).repairedEnd(6) == Array("}\n{3}\n".utf8))
    }

    /// Somebody else's file is left as it is.
    @Test(arguments: ["text\n", "\u{0}\u{1}", "[1]\n"])
    func aFileWithSomethingElseIsRefused(_ text: String) throws {
        folder.write("a", text)
        let file = try LineFile(folder.path("a"))
        let found = fault { () throws(OutputFault) in _ = try file.repairedEnd(1_000) }
        #expect(found?.kind == .unsuitable)
        #expect(folder.text("a") == text)
    }

    @Test func oneProcessAloneWrites() throws {
        let first = try LineFile(folder.path("a"))
        let path = folder.path("a")
        let found = fault { () throws(OutputFault) in _ = try LineFile(path) }
        #expect(
            found?.description.hasSuffix("another process writes to it; use another file") == true)
        withExtendedLifetime(first) {}
    }

    @Test func whatIsNoFileIsRefused() {
        let (path, missing) = (folder.path(""), folder.path("b/c"))
        let device = fault { () throws(OutputFault) in _ = try LineFile("/dev/null") }
        #expect(device?.kind == .unsuitable)
        let directory = fault { () throws(OutputFault) in _ = try LineFile(path) }
        #expect(directory != nil)
        let found = fault { () throws(OutputFault) in _ = try LineFile(missing) }
        #expect(found?.description.contains("No such file or directory; check the path") == true)
    }

    @Test func aFileThatWasRenamedIsNotThereAnyMore() throws {
        let file = try LineFile(folder.path("a"))
        #expect(file.isThere)
        rename(folder.path("a"), folder.path("b"))
        #expect(!file.isThere)
        folder.write("a", "")
        #expect(!file.isThere)
    }
}
