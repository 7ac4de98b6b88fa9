import Glibc
import Testing

@testable import FileTransfer

struct ReceivingFolderTests {
    private let path: String

    init() throws {
        var template = Array("/tmp/rivulet-files.XXXXXX".utf8CString)
        path = String(cString: try #require(mkdtemp(&template)))
    }

    private func write(_ text: String, _ name: String) -> String {
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        _ = Glibc.write(file, text, text.utf8.count)
        close(file)
        return "\(path)/\(name)"
    }

    private func content(_ name: String) -> String? {
        let file = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    @Test func aNameThatIsTakenGetsTheNextNumber() throws {
        let folder = try ReceivingFolder(path)
        let name = StoredName(offered: "a.txt")
        for (text, expected) in [("1", "a.txt"), ("2", "a (2).txt"), ("3", "a (3).txt")] {
            let stored = try folder.store(write(text, "part"), as: name, overwrites: false)
            #expect(stored.description == expected)
            #expect(content(expected) == text)
        }
        #expect(content("part") == nil)
    }

    @Test func overwritingReplacesAFileButNoFolder() throws {
        let folder = try ReceivingFolder(path)
        let name = StoredName(offered: "a")
        _ = write("old", "a")
        _ = try folder.store(write("new", "part"), as: name, overwrites: true)
        #expect(content("a") == "new")
        mkdir("\(path)/b", 0o700)
        let part = write("new", "part")
        #expect(throws: TransferFault.self) {
            try folder.store(part, as: StoredName(offered: "b"), overwrites: true)
        }
        #expect(content("part") == "new")
    }

    @Test func aLinkIsNeverFollowed() throws {
        let folder = try ReceivingFolder(path)
        symlink("/nonexistent/elsewhere", "\(path)/a")
        let name = StoredName(offered: "a")
        let stored = try folder.store(write("1", "part"), as: name, overwrites: false)
        #expect(stored.description == "a (2)")
        _ = try folder.store(write("2", "part"), as: name, overwrites: true)
        #expect(content("a") == "2")
        // What is to be stored is no link either.
        symlink("/etc/hostname", "\(path)/link")
        #expect(throws: TransferFault.self) {
            try folder.store("\(path)/link", as: name, overwrites: false)
        }
    }

    @Test func aFileIsForThoseForWhomNewFilesAre() throws {
        let folder = try ReceivingFolder(path)
        _ = try folder.store(
            write("1", "part"), as: StoredName(offered: "a"), overwrites: false)
        close(open("\(path)/new", O_WRONLY | O_CREAT | O_EXCL, 0o666))
        var (stored, new) = (stat(), stat())
        stat("\(path)/a", &stored)
        stat("\(path)/new", &new)
        #expect(stored.st_mode & 0o777 == new.st_mode & 0o777)
        #expect(new.st_mode & 0o600 == 0o600)
    }

    @Test func aFolderThatIsNotThereIsSaid() {
        #expect(throws: TransferFault.self) { try ReceivingFolder(path + "/none") }
        #expect(throws: TransferFault.self) { try ReceivingFolder("/etc/hostname") }
    }
}
