import DurableFiles
import FailingFiles
import Glibc
import Testing

@Suite struct AtomicFileTests {
    private static let old = Array("old".utf8)
    private static let new = [UInt8](repeating: 0x6e, count: 5_000)

    @Test func writtenBytesAreReadBackWithTheGivenMode() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/file"
            try AtomicFile.write(Self.new, to: path, permissions: 0o600, through: SystemFiles())
            let bytes = try AtomicFile.read(path, limit: 5_000, through: SystemFiles())
            #expect(bytes == Self.new)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600)
        }
    }

    @Test func missingFileIsNil() throws {
        try withTemporaryDirectory { directory in
            let bytes = try AtomicFile.read(directory + "/no", limit: 10, through: SystemFiles())
            #expect(bytes == nil)
        }
    }

    /// Nobody is waited for.
    @Test func pipeInTheFilesPlaceIsEmptyAndADeviceWithoutEndIsRefused() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/file"
            #expect(mkfifo(path, 0o600) == 0)
            let bytes = try AtomicFile.read(path, limit: 10, through: SystemFiles())
            #expect(bytes == [])
        }
        #expect(throws: FileError(operation: "read", path: "/dev/zero", code: EFBIG)) {
            try AtomicFile.read("/dev/zero", limit: 4_999, through: SystemFiles())
        }
    }

    @Test func fileOverTheLimitIsRefused() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/file"
            try AtomicFile.write(Self.new, to: path, permissions: 0o600, through: SystemFiles())
            #expect(throws: FileError(operation: "read", path: path, code: EFBIG)) {
                try AtomicFile.read(path, limit: 4_999, through: SystemFiles())
            }
        }
    }

    @Test func missingParentsAreMade() throws {
        try withTemporaryDirectory { directory in
            let files = SystemFiles()
            try files.makeDirectories(directory + "/a/b/c", permissions: 0o700)
            try files.makeDirectories(directory + "/a/b/c", permissions: 0o700)
            try AtomicFile.write(
                [1], to: directory + "/a/b/c/file", permissions: 0o600, through: files)
        }
    }

    /// To Swift a slash with a mark behind it is another character; to the kernel it is a slash.
    @Test func aSlashWithAMarkBehindItIsASlash() throws {
        try withTemporaryDirectory { directory in
            let files = SystemFiles()
            try files.makeDirectories(directory + "/a/\u{301}b/c", permissions: 0o700)
            #expect(names(in: directory) == ["a"])
            try AtomicFile.write(
                [1], to: directory + "/a/\u{301}file", permissions: 0o600, through: files)
            #expect(names(in: directory + "/a") == ["\u{301}b", "\u{301}file"])
        }
    }

    @Test func eachFailingCallLeavesTheOldFileOrTheNewOne() throws {
        let calls = try callsOfOneReplacement()
        #expect(calls == 5)
        for call in 0..<calls {
            let left = try replacement(under: .fail(call: call, code: ENOSPC))
            #expect(left.bytes == Self.old || left.bytes == Self.new)
            #expect(left.failed)
            #expect(!left.temporaryRemains)
        }
    }

    @Test func losingPowerBeforeEachCallLeavesTheOldFileOrTheNewOne() throws {
        for call in 0..<(try callsOfOneReplacement()) {
            for undoesRenames in [false, true] {
                let left = try replacement(under: .stop(call: call, undoesRenames: undoesRenames))
                #expect(left.bytes == Self.old || left.bytes == Self.new)
            }
        }
    }

    @Test func leftOverTemporaryFileIsNoObstacle() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/file"
            let files = SystemFiles()
            try AtomicFile.write(Self.new, to: path + ".tmp", permissions: 0o644, through: files)
            try AtomicFile.write(Self.old, to: path, permissions: 0o600, through: files)
            let bytes = try AtomicFile.read(path, limit: 10, through: files)
            #expect(bytes == Self.old)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600)
        }
    }

    private func callsOfOneReplacement() throws -> Int {
        try withTemporaryDirectory { directory in
            let files = FailingFiles()
            try AtomicFile.write(
                Self.new, to: directory + "/file", permissions: 0o600, through: files)
            return files.calls
        }
    }

    private func replacement(
        under fault: FailingFiles.Fault
    ) throws -> (bytes: [UInt8]?, failed: Bool, temporaryRemains: Bool) {
        try withTemporaryDirectory { directory in
            let path = directory + "/file"
            let real = SystemFiles()
            try AtomicFile.write(Self.old, to: path, permissions: 0o600, through: real)
            var failed = false
            do {
                try AtomicFile.write(
                    Self.new, to: path, permissions: 0o600, through: FailingFiles(fault))
            } catch { failed = true }
            let bytes = try AtomicFile.read(path, limit: 10_000, through: real)
            let remains = try AtomicFile.read(path + ".tmp", limit: 10_000, through: real) != nil
            return (bytes, failed, remains)
        }
    }
}
