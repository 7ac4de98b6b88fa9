import DurableFiles
import Glibc

/// One process for each state directory: a lock on the file `lock` in it, whose text names the
/// process that has it.
///
/// Two with one identity would look like a cloned card, and spoil each other's spool. The kernel
/// gives the lock back when the process ends, however it ends; the file stays.
final class StateLock {
    private let file: Int32

    private init(_ file: Int32) { self.file = file }

    deinit { close(file) }

    /// Takes the lock, and makes the directory if there is none. nil where no file can be opened
    /// in it: then nothing else can be kept there either.
    static func acquire(_ directory: String) throws(StartError) -> StateLock? {
        try? SystemFiles().makeDirectories(directory, permissions: 0o700)
        let path = directory + "/lock"
        let flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        var file = open(path, O_RDWR | O_CREAT | flags, 0o600)
        // A lock needs no writing: one on a read-only file system is as good.
        if file < 0 { file = open(path, O_RDONLY | flags) }
        guard file >= 0 else { return nil }
        let lock = StateLock(file)
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { return nil }
            throw StartError(
                "\(directory): this state directory is in use by \(lock.holder): stop that one, "
                    + "or give this one a directory of its own (key `state`)", .unavailable)
        }
        let text = Array("\(getpid()) \(programName)\n".utf8)
        if ftruncate(file, 0) == 0 { _ = pwrite(file, text, text.count, 0) }
        return lock
    }

    /// Who has the lock of this directory; nil: nobody, or it cannot be read.
    static func holder(of directory: String) -> String? {
        let file = open(directory + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        let lock = StateLock(file)
        let isHeld = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
        return isHeld ? lock.holder : nil
    }

    /// `rivulet-agent (process 1234)`; what is not as it was written here names nobody.
    private var holder: String {
        var bytes = [UInt8](repeating: 0, count: 80)
        let count = pread(file, &bytes, bytes.count, 0)
        let line = bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard words.count == 2, let process = Int(String(decoding: words[0], as: UTF8.self)),
            words[1].allSatisfy({ (0x21...0x7e).contains($0) })
        else { return "another process" }
        return "\(String(decoding: words[1], as: UTF8.self)) (process \(process))"
    }

    /// The last component of what was started, at most 63 bytes of plain ASCII.
    private static var programName: String {
        let path = CommandLine.arguments.first ?? ""
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
        let plain = name.prefix(63).map { (0x21...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }
        return plain.isEmpty ? "?" : String(decoding: plain, as: UTF8.self)
    }
}
