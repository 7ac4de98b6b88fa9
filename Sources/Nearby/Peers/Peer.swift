import NearbyCore
import NearbyDTLS

/// Who a peer is: 16 bytes, a hash of its public key, printed as five groups of letters and digits.
public typealias PeerID = NearbyCore.PeerID

/// A peer: a display name, and 16 bytes that say who it is, a hash of its public key.
///
/// One that is made here has a private key, in memory. The first time it is encoded or archived
/// the key is written to the key folder, `$RIVULET_NEARBY_KEYS`, else `$XDG_STATE_HOME/nearby`,
/// else `~/.local/state/nearby` (0700, files 0600). The encoding never holds it. Decoded where the
/// key file is, a peer can be used as one's own again; elsewhere it names a remote peer.
public struct Peer: Hashable, Sendable, CustomStringConvertible {
    /// 1–63 bytes of UTF-8; what others see.
    public let displayName: String
    /// What tells it from others of the same name.
    public let id: PeerID
    /// Nil: it is another's.
    let key: OwnKey?

    /// A new peer with a key of its own.
    ///
    /// - Throws: `.invalidParameter` for a name that is empty or longer than 63 bytes.
    public init(displayName: String) throws(NearbyError) {
        try Self.check(displayName)
        let identity = NodeIdentity.makeEphemeral()
        self.init(displayName: displayName, id: identity.peer, key: OwnKey(pem: identity.pem))
    }

    /// Another's, known by its PeerID alone.
    public init(displayName: String, id: PeerID) {
        self.init(displayName: displayName, id: id, key: nil)
    }

    init(displayName: String, id: PeerID, key: OwnKey?) {
        self.displayName = displayName
        self.id = id
        self.key = key
    }

    /// Whether we have its private key, so that it can be used as one's own.
    public var isOwn: Bool { key != nil }

    /// The same peer under another name.
    ///
    /// - Throws: `.invalidParameter` for a name that is empty or longer than 63 bytes.
    public func renamed(_ displayName: String) throws(NearbyError) -> Peer {
        try Self.check(displayName)
        return Peer(displayName: displayName, id: id, key: key)
    }

    /// Equal peers have the same 16 bytes, whatever they are called.
    public static func == (left: Peer, right: Peer) -> Bool { left.id == right.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    public var description: String { displayName }

    fileprivate static func check(_ name: String) throws(NearbyError) {
        guard (1...63).contains(name.utf8.count) else {
            throw NearbyError(
                .invalidParameter,
                "a display name has 1 to 63 bytes of UTF-8, this one has \(name.utf8.count): "
                    + "choose another")
        }
    }

}

// MARK: - Archives

extension Peer {
    /// What `archive` gave, here or elsewhere.
    ///
    /// - Throws: `.invalidParameter` for other bytes, `.unavailable` if the key file is there and
    ///   cannot be used.
    public init(archive bytes: [UInt8]) throws(NearbyError) {
        var reader = ByteReader(bytes)
        guard (try? reader.readUInt8()) == Self.version, let id = try? reader.readPeerID() else {
            throw NearbyError(.invalidParameter, "these bytes are no archive of a peer")
        }
        let name = reader.readRemaining()
        let text = String(decoding: name, as: UTF8.self)
        guard text.utf8.elementsEqual(name) else {
            throw NearbyError(.invalidParameter, "the peer's name is not UTF-8")
        }
        try Self.check(text)
        self.init(displayName: text, id: id, key: try KeyFolder.key(of: id))
    }

    /// Name and id; equal peers of one name have equal archives. Keeps our own key on disk.
    ///
    /// - Throws: `.unavailable` if the key cannot be written.
    public func archive() throws(NearbyError) -> [UInt8] {
        try key?.keep(for: id)
        var writer = ByteWriter(reserving: 80)
        writer.write(Self.version)
        writer.write(id)
        writer.write(contentsOf: displayName.utf8)
        return writer.bytes
    }

    private static let version: UInt8 = 1
}

extension Peer: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        try self.init(archive: try container.decode([UInt8].self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(try archive())
    }
}
