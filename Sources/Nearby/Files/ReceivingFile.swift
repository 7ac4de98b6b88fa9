import Glibc
import NearbyCertificates
import NearbyCore
import NearbyLinux
import NearbyTransfers

/// A file that comes: written as it comes, and hashed at the latest when all is there. For the
/// background thread.
final class ReceivingFile {
    let state: TransferState
    let outcome: Reply<String>
    let session: OpenedSession
    let part: PartFile
    private let digest = FileDigest()
    private var hashedEnd: Int64 = 0
    private let byteCount: Int64
    /// All was written, and this should be its hash.
    private var expected: [UInt8]?

    init(
        _ part: PartFile, byteCount: Int64, in session: OpenedSession, _ state: TransferState,
        _ outcome: Reply<String>
    ) {
        self.part = part
        self.byteCount = byteCount
        self.session = session
        self.state = state
        self.outcome = outcome
    }

    func write(_ bytes: [UInt8], at offset: Int64) -> Bool {
        guard part.file.write(bytes, at: offset) else { return false }
        if offset == hashedEnd {
            bytes.withUnsafeBytes { digest.update($0) }
            hashedEnd += Int64(bytes.count)
        }
        return true
    }

    func isComplete(sha256: [UInt8]) { expected = sha256 }

    var isBusy: Bool { expected != nil }

    /// Does a bounded piece of work.
    ///
    /// - Returns: the verdict, once it is there.
    func work(_ id: ResourceID) -> TransferInput? {
        guard let expected else { return nil }
        if hashedEnd < byteCount {
            let count = Int(min(Int64(Limits.fileWorkBytes), byteCount - hashedEnd))
            guard let bytes = part.file.read(count, at: hashedEnd) else {
                self.expected = nil
                return .verified(id, false)
            }
            bytes.withUnsafeBytes { digest.update($0) }
            hashedEnd += Int64(bytes.count)
            if hashedEnd < byteCount { return nil }
        }
        self.expected = nil
        return .verified(id, digest.finish() == expected)
    }
}
