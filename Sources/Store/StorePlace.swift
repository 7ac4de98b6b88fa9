import DurableFiles
import Glibc
import NearbyCore

/// Where a store lies in the file system.
struct StorePlace {
    let path: String
    private let files = SystemFiles()

    init(_ path: String) { self.path = path }

    /// Where links lead to: SQLite has its files beside that.
    init(resolving path: String) {
        guard let resolved = realpath(path, nil) else {
            self.path = path
            return
        }
        defer { free(resolved) }
        self.path = String(cString: resolved)
    }

    var exists: Bool { access(path, F_OK) == 0 }

    /// Not empty, and shorter than any database.
    var isTooShort: Bool {
        var status = stat()
        return stat(path, &status) == 0 && (1..<512).contains(status.st_size)
    }

    /// Throws if the directory takes no new files, or if something other than a file is there.
    func check() throws(StoreError) {
        guard access(directory, W_OK | X_OK) == 0 else {
            throw .folder(FileError(operation: "write", path: directory, code: errno))
        }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw .notAFile(path: path)
        }
    }

    /// Renames the file and what belongs to it to the first free `PATH.kind-N`; returns that.
    func setAside(as kind: String) throws(StoreError) -> String {
        var number = 1
        while access("\(path).\(kind)-\(number)", F_OK) == 0 { number += 1 }
        let aside = "\(path).\(kind)-\(number)"
        do {
            // The database last: after a power cut in between, it is found damaged once more.
            for suffix in ["-wal", "-shm", "-journal", ""] where access(path + suffix, F_OK) == 0 {
                try files.rename(path + suffix, to: aside + suffix)
            }
            try files.synchronizeDirectory(directory)
        } catch {
            throw .file(error)
        }
        return aside
    }

    func synchronizeDirectory() throws(StoreError) {
        do { try files.synchronizeDirectory(directory) } catch { throw .file(error) }
    }

    private var directory: String { path.pathFolder ?? "." }
}

/// Files that nobody writes.
extension StorePlace {
    /// By what a file is known again as long as nobody writes it.
    struct Seal: Hashable {
        fileprivate var device: UInt64
        fileprivate var number: UInt64
        fileprivate var byteCount: Int64
        fileprivate var seconds: Int64
        fileprivate var nanoseconds: Int64
    }

    /// Nil while somebody writes the file, or something is left to be put into it. Who has it open
    /// for writing has `-wal` and `-shm` beside it from its first look until it closes it.
    var seal: Seal? {
        var status = stat()
        guard stat(path, &status) == 0, !hasLog, byteCount(of: "-journal") == 0,
            access(path + "-shm", F_OK) != 0
        else { return nil }
        return Seal(
            device: UInt64(status.st_dev), number: UInt64(status.st_ino),
            byteCount: Int64(status.st_size), seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: Int64(status.st_mtim.tv_nsec))
    }

    /// Whether the write-ahead log has anything.
    var hasLog: Bool { byteCount(of: "-wal") > 0 }

    /// Whether files can be made beside it.
    var takesFiles: Bool { access(directory, W_OK | X_OK) == 0 }

    /// 0 where there is no such file.
    private func byteCount(of suffix: String) -> Int64 {
        var status = stat()
        return stat(path + suffix, &status) == 0 ? Int64(status.st_size) : 0
    }
}
