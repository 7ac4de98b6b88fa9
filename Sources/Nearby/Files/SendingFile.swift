import Glibc
import NearbyCertificates
import NearbyCore
import NearbyLinux
import NearbyTransfers

/// A file that is sent: what the machine asks for is read, and hashed in order. For the background
/// thread.
final class SendingFile {
    let state: TransferState
    let outcome: Reply<Void>
    let session: OpenedSession
    let offer: ResourceOffer
    private let file: FileDescriptor
    private var digest = FileDigest()
    private var hashedEnd: Int64 = 0
    private var reads: [(offset: Int64, count: Int)] = []
    /// The other side has begun anew: it is offered again with the session's new number.
    var isInterrupted = false

    init(
        _ file: FileDescriptor, _ offer: ResourceOffer, in session: OpenedSession,
        _ state: TransferState, _ outcome: Reply<Void>
    ) {
        self.file = file
        self.offer = offer
        self.session = session
        self.state = state
        self.outcome = outcome
    }

    /// The receiver begins, perhaps anew, and perhaps not with the first byte.
    func accepted(from offset: Int64) {
        state.begin(at: offset)
        isInterrupted = false
        digest = FileDigest()
        hashedEnd = 0
    }

    /// - Returns: how many questions are still to be answered, with whatever.
    func interrupted() -> Int {
        isInterrupted = true
        defer { reads = [] }
        return reads.count
    }

    func wants(_ count: Int, at offset: Int64) { reads.append((offset, count)) }

    /// Whether something is left to do.
    var isBusy: Bool { !reads.isEmpty }

    /// Does a bounded piece of work. What the receiver has already is read for its hash alone.
    ///
    /// - Returns: the answer to the oldest question, if it is there by now.
    func work(_ id: ResourceID) -> TransferInput? {
        guard let read = reads.first else { return nil }
        if hashedEnd < read.offset {
            let count = Int(min(Int64(Limits.fileWorkBytes), read.offset - hashedEnd))
            guard let bytes = file.read(count, at: hashedEnd) else {
                reads.removeFirst()
                return .readFailed(id)
            }
            hash(bytes)
            return nil
        }
        reads.removeFirst()
        guard let bytes = file.read(read.count, at: read.offset) else { return .readFailed(id) }
        hash(bytes)
        guard hashedEnd == offer.byteCount else { return .data(id, bytes, sha256: nil) }
        // One that was written to meanwhile would arrive half old and half new.
        guard file.contentKey == offer.key else { return .readFailed(id) }
        return .data(id, bytes, sha256: digest.finish())
    }

    private func hash(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { digest.update($0) }
        hashedEnd += Int64(bytes.count)
    }
}

extension FileDescriptor {
    /// All of it; nil if the file ends before, or cannot be read.
    func read(_ count: Int, at offset: Int64) -> [UInt8]? {
        var done = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while done < count {
                let part = pread(
                    raw, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset) + done)
                if part < 0, errno == EINTR { continue }
                if part <= 0 { break }
                done += part
            }
            filled = done
        }
        return done == count ? bytes : nil
    }

    /// False if it could not be written whole.
    func write(_ bytes: [UInt8], at offset: Int64) -> Bool {
        var done = 0
        return bytes.withUnsafeBytes { buffer in
            while done < buffer.count {
                let part = pwrite(
                    raw, buffer.baseAddress.map { $0 + done }, buffer.count - done,
                    off_t(offset) + done)
                if part < 0, errno == EINTR { continue }
                if part <= 0 { return false }
                done += part
            }
            return true
        }
    }

    /// Nil if it is no ordinary file.
    var byteCount: Int64? {
        var status = stat()
        guard fstat(raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }
}

extension Limits {
    /// Read or hashed of one file before others have their turn.
    static let fileWorkBytes = 1 << 20
}
