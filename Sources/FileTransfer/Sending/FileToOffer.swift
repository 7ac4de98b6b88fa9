import Glibc
import NearbyLinux

/// A file as it was before it was sent, so that a change is noticed.
struct FileToOffer: Equatable, Sendable {
    let path: String
    let byteCount: Int64
    private let place: [UInt64]
    private let changed: [Int]

    /// - Throws: `.noInput`, `.notPermitted` or `.inputOutput` with what is the matter.
    init(_ path: String) throws(TransferFault) {
        // A pipe would let us wait for its other end.
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let code = errno
        guard let file = try? FileDescriptor(taking: raw, from: "open") else {
            throw TransferFault(Self.kind(code), "\(ReadableText.shown(path)): \(reason(code))")
        }
        var status = stat()
        guard fstat(file.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            let advice =
                status.st_mode & S_IFMT == S_IFDIR
                ? "is a folder; pack it with `tar` and send the archive"
                : "is not a regular file; save its contents to a file first"
            throw TransferFault(.noInput, "\(ReadableText.shown(path)) \(advice)")
        }
        self.path = path
        byteCount = Int64(status.st_size)
        place = [UInt64(status.st_dev), UInt64(status.st_ino)]
        changed = [Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec)]
    }

    /// What is wrong with it by now, if anything is.
    var fault: TransferFault? {
        do throws(TransferFault) {
            if try FileToOffer(path) == self { return nil }
            return TransferFault(
                .tryAgain,
                "\(ReadableText.shown(path)) was changed while it was sent, and was not kept "
                    + "there; send it again when nobody writes to it")
        } catch {
            return TransferFault(
                error.kind, "while it was sent: \(error.description); nothing was kept there")
        }
    }

    private static func kind(_ code: Int32) -> TransferFault.Kind {
        switch code {
        case EACCES, EPERM: .notPermitted
        case ENOENT, ENOTDIR, ENXIO: .noInput
        default: .inputOutput
        }
    }
}

/// The system's own words.
func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
