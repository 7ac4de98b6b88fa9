import DurableFiles
import Glibc
import NearbyCore
import NearbyDTLS
import Synchronization

/// The private key of a peer of our own.
final class OwnKey: Sendable {
    /// Key and certificate.
    let pem: [UInt8]
    private let isKept: Mutex<Bool>

    init(pem: [UInt8], isKept: Bool = false) {
        self.pem = pem
        self.isKept = Mutex(isKept)
    }

    /// Writes it to the key folder unless that is done.
    func keep(for peer: PeerID) throws(NearbyError) {
        let error = isKept.withLock { isKept -> NearbyError? in
            guard !isKept else { return nil }
            do throws(NearbyError) {
                try KeyFolder.write(pem, of: peer)
                isKept = true
                return nil
            } catch {
                return error
            }
        }
        if let error { throw error }
    }
}

/// Where keys of our own peers are kept: a file for each, named after it.
enum KeyFolder {
    /// Nil if there is no such file: the peer is another's.
    static func key(of peer: PeerID) throws(NearbyError) -> OwnKey? {
        guard let path = path(of: peer) else { return nil }
        let stored: (bytes: [UInt8], permissions: UInt32)?
        do throws(FileError) {
            stored = try AtomicFile.readWithPermissions(
                path, limit: fileBytesMax, through: SystemFiles())
        } catch {
            throw unusable(path, "\(error)")
        }
        guard let stored else { return nil }
        guard stored.permissions & 0o077 == 0 else {
            throw unusable(path, "others can read it; run `chmod 600` on it")
        }
        guard NodeIdentity(pem: stored.bytes)?.peer == peer else {
            throw unusable(path, "it is damaged, or another peer's; put back a copy")
        }
        return OwnKey(pem: stored.bytes, isKept: true)
    }

    static func write(_ pem: [UInt8], of peer: PeerID) throws(NearbyError) {
        guard let folder, let path = path(of: peer) else {
            throw NearbyError(
                .unavailable,
                "there is no place for the peer's key: set HOME or RIVULET_NEARBY_KEYS")
        }
        do throws(FileError) {
            try SystemFiles().makeDirectories(folder, permissions: 0o700)
            try AtomicFile.write(pem, to: path, permissions: 0o600, through: SystemFiles())
        } catch {
            throw NearbyError(.unavailable, "\(path): the peer's key cannot be kept: \(error)")
        }
    }

    private static func unusable(_ path: String, _ why: String) -> NearbyError {
        NearbyError(.unavailable, "\(path): the peer's key cannot be used: \(why)")
    }

    private static func path(of peer: PeerID) -> String? { folder.map { "\($0)/\(peer).pem" } }

    private static var folder: String? {
        if let folder = variable("RIVULET_NEARBY_KEYS") { return folder }
        if let state = variable("XDG_STATE_HOME") { return state + "/nearby" }
        return variable("HOME").map { $0 + "/.local/state/nearby" }
    }

    private static let fileBytesMax = 16_384
}

/// Of the environment; nil if it is not set, or empty.
func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
}
