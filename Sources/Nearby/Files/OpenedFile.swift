import Glibc
import NearbyCertificates
import NearbyLinux

/// An ordinary file, open for reading.
struct OpenedFile: Sendable {
    let descriptor: FileDescriptor
    let byteCount: Int64

    /// - Throws: `.invalidParameter` if it cannot be read, or is none.
    init(_ path: String) throws(NearbyError) {
        // A pipe would let us wait for its other end.
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard let file = try? FileDescriptor(taking: raw, from: "open") else {
            throw NearbyError(.invalidParameter, "\(path): \(String(cString: strerror(errno)))")
        }
        guard let count = file.byteCount else {
            throw NearbyError(.invalidParameter, "\(path) is no ordinary file")
        }
        var first: UInt8 = 0
        if count == 0, pread(file.raw, &first, 1, 0) > 0 {
            throw NearbyError(
                .invalidParameter,
                "\(path) reports a size of 0 but has content, like files in /proc and /sys: copy "
                    + "it to an ordinary file and send that")
        }
        (descriptor, byteCount) = (file, count)
    }

    /// The same as long as the file is: 16 bytes of a hash over its place, size and times.
    var key: [UInt8] { descriptor.contentKey }
}

extension FileDescriptor {
    var contentKey: [UInt8] {
        var status = stat()
        fstat(raw, &status)
        let text =
            "\(status.st_dev) \(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec) "
            + "\(status.st_mtim.tv_nsec)"
        let digest = FileDigest()
        Array(text.utf8).withUnsafeBytes { digest.update($0) }
        return Array(digest.finish().prefix(16))
    }
}
