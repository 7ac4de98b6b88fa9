import CLinux
import Configuration
import Glibc
import NearbyLinux

/// The folder where received files go, each when it is whole.
struct ReceivingFolder: Sendable {
    let path: String
    private let folder: FileDescriptor
    /// What new files of ours have.
    private let permissions: mode_t

    /// - Throws: `.noInput` or `.notPermitted` where files cannot be put there.
    init(_ path: String) throws(TransferFault) {
        let shown = ReadableText.shown(path)
        let raw = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let code = errno
        guard let folder = try? FileDescriptor(taking: raw, from: "open") else {
            let advice = code == ENOENT ? "; make it with `mkdir`" : ""
            throw TransferFault(
                code == EACCES ? .notPermitted : .noInput, "\(shown): \(reason(code))\(advice)")
        }
        guard access(path, W_OK | X_OK) == 0 else {
            throw TransferFault(
                .notPermitted, "\(shown): files cannot be put there: \(reason(errno))")
        }
        (self.path, self.folder, permissions) = (path, folder, 0o666 & ~Self.mask)
    }

    /// What this process leaves out of the permissions of new files. umask(2) tells it only by
    /// changing it, for all threads; proc(5) has it since Linux 4.7. Where it cannot be read,
    /// others than the owner get nothing.
    private static var mask: mode_t {
        guard let status = try? SmallFile.read("/proc/self/status", limit: 64 * 1_024),
            let line = status.split(separator: UInt8(ascii: "\n"))
                .first(where: { $0.starts(with: "Umask:".utf8) })
        else { return 0o077 }
        let digits = line.dropFirst("Umask:".utf8.count).drop { $0 == UInt8(ascii: "\t") }
        return mode_t(String(decoding: digits, as: UTF8.self), radix: 8) ?? 0o077
    }

    /// For files that are not whole yet; on the same file system.
    var partial: String { path + "/.rivulet-partial" }

    /// Bytes that may be written there; nil if nobody knows.
    var freeByteCount: Int64? {
        var status = statvfs()
        guard fstatvfs(folder.raw, &status) == 0 else { return nil }
        let (count, isTooMuch) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize))
        return isTooMuch ? nil : Int64(clamping: count)
    }

    /// Gives a whole file its name: it is on the disk before it has it, and the name is before we
    /// return.
    ///
    /// - Returns: the name that it got.
    func store(
        _ file: String, as name: StoredName, overwrites: Bool
    ) throws(TransferFault) -> StoredName {
        try save(file)
        for number in 1...Self.numberMax {
            let final = number == 1 ? name : name.numbered(number)
            if overwrites || isFree(final) {
                let code = move(file, to: final, overwrites)
                if code == 0 { return final }
                guard code == EEXIST, !overwrites else { throw fault(final, code) }
            }
        }
        throw TransferFault(
            .cannotCreate,
            "\(name) and \(Self.numberMax - 1) more of that name are there; move them away")
    }

    private func save(_ file: String) throws(TransferFault) {
        let raw = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        let code = errno
        guard let descriptor = try? FileDescriptor(taking: raw, from: "open") else {
            throw TransferFault(.inputOutput, "\(ReadableText.shown(file)): \(reason(code))")
        }
        fchmod(descriptor.raw, permissions)
        guard fsync(descriptor.raw) == 0 else {
            throw TransferFault(.inputOutput, "the file could not be written: \(reason(errno))")
        }
    }

    private func isFree(_ name: StoredName) -> Bool {
        var status = stat()
        return fstatat(folder.raw, name.description, &status, AT_SYMLINK_NOFOLLOW) != 0
    }

    /// - Returns: 0, or errno.
    private func move(_ file: String, to name: StoredName, _ overwrites: Bool) -> Int32 {
        let target = name.description
        var result: Int32
        if overwrites {
            result = renameat(AT_FDCWD, file, folder.raw, target)
        } else {
            result = clinux_rename_new(AT_FDCWD, file, folder.raw, target)
            if result != 0, errno == EINVAL || errno == ENOSYS {
                // Older kernels and some file systems: a second name does not replace one either.
                result = linkat(AT_FDCWD, file, folder.raw, target, 0)
                if result == 0 { unlink(file) }
            }
        }
        guard result == 0 else { return errno }
        return fsync(folder.raw) == 0 ? 0 : errno
    }

    private func fault(_ name: StoredName, _ code: Int32) -> TransferFault {
        let kind: TransferFault.Kind =
            code == EACCES || code == EPERM ? .notPermitted : .cannotCreate
        return TransferFault(kind, "\(ReadableText.shown("\(path)/\(name)")): \(reason(code))")
    }

    /// Nothing is left to go on with.
    func tidy() { rmdir(partial) }

    private static let numberMax = 1_000
}
