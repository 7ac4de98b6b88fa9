import Glibc
import Outputs

/// A file that whole lines are added to: what `append` returned from is on the disk.
final class LineFile {
    let path: String
    private let descriptor: Int32
    private(set) var byteCount: Int
    private let device: dev_t
    private let inode: ino_t

    /// Opens the file, made if it is missing unless `isNew` is false; nobody else may be writing
    /// lines to it.
    init(_ path: String, isNew: Bool = true) throws(OutputFault) {
        self.path = path
        let flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        descriptor = open(path, isNew ? flags | O_CREAT : flags, 0o640)
        guard descriptor >= 0 else {
            throw LineFile.fault(
                "open", path, errno, advice: "check the path, and who may write there")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw OutputFault(
                .unsuitable, "\(path) is not a regular file; name one that is, or use `command`")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw OutputFault(
                .unsuitable, "\(path): another process writes to it; use another file")
        }
        (device, inode) = (status.st_dev, status.st_ino)
        byteCount = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// Whether the path still leads to this file.
    var isThere: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }

    /// The end of the file, at most so many bytes. A line that a crash cut off is removed first;
    /// throws for what cannot be a file of ours.
    func repairedEnd(_ limit: Int) throws(OutputFault) -> [UInt8] {
        guard byteCount > 0 else { return [] }
        guard try read(at: 0, count: 1) == [UInt8(ascii: "{")] else {
            throw OutputFault(
                .unsuitable, "\(path) has something other than JSON lines in it; use another file")
        }
        let start = max(0, byteCount - limit)
        var end = try read(at: start, count: byteCount - start)
        let whole = end.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        guard whole > 0 || start == 0 else {
            throw OutputFault(.unsuitable, "\(path) has no lines in it; use another file")
        }
        if whole < end.count {
            try cut(to: start + whole)
            end.removeLast(end.count - whole)
        }
        return end
    }

    /// All of these bytes or none; they are on the disk then.
    func append(_ bytes: [UInt8]) throws(OutputFault) {
        let before = byteCount
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                try? cut(to: before)
                throw LineFile.fault("write", path, code, advice: "make room")
            }
            rest = rest.dropFirst(count)
        }
        guard fdatasync(descriptor) == 0 else {
            let code = errno
            try? cut(to: before)
            throw LineFile.fault("fsync", path, code, advice: "check the disk")
        }
        byteCount = before + bytes.count
    }

    private func cut(to count: Int) throws(OutputFault) {
        guard ftruncate(descriptor, off_t(count)) == 0 else {
            throw LineFile.fault("truncate", path, errno, advice: "check the disk")
        }
        byteCount = count
    }

    private func read(at offset: Int, count: Int) throws(OutputFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes[done...].withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(offset + done))
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else {
                throw LineFile.fault("read", path, read < 0 ? errno : EIO, advice: "check the disk")
            }
            done += read
        }
        return bytes
    }

    static func fault(
        _ call: String, _ path: String, _ code: Int32, advice: String
    ) -> OutputFault {
        let kind: OutputFault.Kind =
            [EACCES, EPERM, EROFS].contains(code) ? .refused : .unavailable
        return OutputFault(kind, "\(path): \(call): \(String(cString: strerror(code))); \(advice)")
    }
}
