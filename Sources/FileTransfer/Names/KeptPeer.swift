import DurableFiles
import Glibc
import Nearby
import NearbyLinux

/// A peer of our own that is the same one the next time: what a receiver keeps of a broken
/// transfer belongs to its sender.
///
/// Each has a file below `$XDG_STATE_HOME/rivulet`, else `~/.local/state/rivulet`. Whoever uses one
/// holds its lock; a second process takes the next.
public struct KeptPeer: Sendable {
    public let peer: Peer
    /// Nil: it is a new one, because there is no place to keep it.
    private let lock: NearbyLinux.FileDescriptor?

    public var isKept: Bool { lock != nil }

    /// - Parameter hint: the same wherever possible for the same hint, such as a file's path.
    /// - Throws: a `NearbyError` where the name is none.
    public init(role: String, name: String, hint: String = "") throws(NearbyError) {
        if let folder = Self.folder {
            let start = Self.hash(hint) % Self.count
            for number in 0..<Self.count {
                let path = "\(folder)/\(role)-\((start + number) % Self.count)"
                guard let (peer, lock) = try Self.kept(path, name) else { continue }
                (self.peer, self.lock) = (peer, lock)
                return
            }
        }
        (peer, lock) = (try Peer(displayName: name), nil)
    }

    /// Nil if somebody else has it, or it cannot be kept.
    private static func kept(
        _ path: String, _ name: String
    ) throws(NearbyError) -> (Peer, NearbyLinux.FileDescriptor)? {
        let raw = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard let file = try? NearbyLinux.FileDescriptor(taking: raw, from: "open"),
            flock(raw, LOCK_EX | LOCK_NB) == 0
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(raw, &bytes, bytes.count, 0)
        if count > 0, let old = try? Peer(archive: Array(bytes.prefix(count))), old.isOwn {
            return (try old.renamed(name), file)
        }
        let new = try Peer(displayName: name)
        guard let archive = try? new.archive(), ftruncate(raw, 0) == 0,
            pwrite(raw, archive, archive.count, 0) == archive.count
        else { return nil }
        return (new, file)
    }

    private static var folder: String? {
        let text = { (name: String) in
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let state = text("XDG_STATE_HOME") ?? text("HOME").map({ $0 + "/.local/state" })
        else { return nil }
        let folder = state + "/rivulet"
        try? SystemFiles().makeDirectories(folder, permissions: 0o700)
        return folder
    }

    /// FNV-1a: Swift's own differs from process to process.
    private static func hash(_ text: String) -> Int {
        Int(text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 } & 0xffff)
    }

    /// Transfers at a time that can go on after a restart.
    private static let count = 16
}
