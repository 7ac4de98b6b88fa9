import DurableFiles
import NearbyCore

/// Who this node is: an ECDSA P-256 key, its certificate, and the board that both belong to.
///
/// Everything is in one file of the state directory, `identity.pem`, mode 0600, PEM text after one
/// line:
///
///     Binding: serial 10000000abcdef01
///     -----BEGIN PRIVATE KEY----- …
///     -----BEGIN CERTIFICATE----- …
///
/// It is replaced atomically: losing power at any moment leaves no identity or a whole one.
public final class NodeIdentity {
    /// What to do with an identity that was made on another board.
    public enum CloneRule: Sendable {
        /// A new key here; the old file is kept aside. For `trust: secret` and `any`.
        case makeNew
        /// An error: others know this key by name. For `trust: pinned` and `authority`.
        case refuse
    }

    public let peer: PeerID
    /// The key lives in memory only and is gone with the process.
    public let ephemeral: Bool
    /// What happened that a person should read, one line each.
    public let diagnostics: [String]
    /// What others ask of it under `trust: authority`.
    let authority: Authority?
    package let key: KeyPair

    private static let fileBytesMax = 16_384
    private static let bindingPrefix = "Binding: "

    package init(
        _ key: KeyPair, ephemeral: Bool = false, diagnostics: [String] = [],
        authority: Authority? = nil
    ) {
        self.key = key
        self.authority = authority
        self.peer = key.peer
        self.ephemeral = ephemeral
        self.diagnostics = diagnostics
    }

    /// The identity in the state directory, made if there is none; both are created as needed.
    ///
    /// Where nothing can be written the identity is ephemeral and a notice says why. `root` is
    /// where /proc and /etc are looked up; tests give another.
    public static func load(
        stateDirectory: String, rule: CloneRule, root: String = "",
        through files: some FileOperations = SystemFiles()
    ) throws(IdentityError) -> NodeIdentity {
        let path = file(in: stateDirectory)
        let board = BoardBinding(root: root, through: files)
        let stored: [UInt8]?
        do {
            stored = try read(path, files)
        } catch {
            if case .unreadable(_, let cause) = error, cause.isForbidden {
                return inMemory(KeyPair.generate(), because: cause)
            }
            throw error
        }
        guard let stored else {
            return create(KeyPair.generate(), board, in: stateDirectory, diagnostics: [], files)
        }
        let (binding, key) = try parse(stored, path: path)
        guard binding.isForeign(on: board) else { return NodeIdentity(key) }
        if rule == .refuse { throw .foreign(path: path, made: binding, here: board) }
        return replace(key, madeOn: binding, board, in: stateDirectory, files)
    }

    /// Why `load` would not start with the identity that is there; nil also where there is none.
    public static func fault(
        stateDirectory: String, rule: CloneRule, root: String = "",
        through files: some FileOperations = SystemFiles()
    ) -> IdentityError? {
        let path = file(in: stateDirectory)
        do throws(IdentityError) {
            guard let stored = try read(path, files) else { return nil }
            let (binding, _) = try parse(stored, path: path)
            let board = BoardBinding(root: root, through: files)
            guard rule == .refuse, binding.isForeign(on: board) else { return nil }
            return .foreign(path: path, made: binding, here: board)
        } catch {
            return error
        }
    }

    /// An identity for this process only.
    public static func makeEphemeral() -> NodeIdentity {
        NodeIdentity(KeyPair.generate(), ephemeral: true)
    }

    /// An identity that its owner keeps elsewhere, as `pem` gave it; nil if the text is damaged.
    public convenience init?(pem: [UInt8]) {
        guard let key = try? KeyPair.parse(pem: pem) else { return nil }
        self.init(key, ephemeral: true)
    }

    /// Key and certificate as PEM text: a secret.
    public var pem: [UInt8] { key.pem() }

    package static func file(in directory: String) -> String { directory + "/identity.pem" }

    /// The file that only its owner can read; nil if there is none.
    package static func read(
        _ path: String, _ files: some FileOperations
    ) throws(IdentityError) -> [UInt8]? {
        let stored: (bytes: [UInt8], permissions: UInt32)?
        do {
            stored = try AtomicFile.readWithPermissions(
                path, limit: fileBytesMax, through: files)
        } catch {
            throw .unreadable(path: path, error)
        }
        guard let stored else { return nil }
        let permissions = stored.permissions & 0o777
        guard permissions & 0o077 == 0 else { throw .open(path: path, permissions: permissions) }
        return stored.bytes
    }

    private static func create(
        _ key: KeyPair, _ board: BoardBinding, in directory: String, diagnostics: [String],
        _ files: some FileOperations
    ) -> NodeIdentity {
        do {
            try files.makeDirectories(directory, permissions: 0o700)
            try AtomicFile.write(
                text(of: key, on: board), to: file(in: directory), permissions: 0o600,
                through: files)
            return NodeIdentity(key, diagnostics: diagnostics)
        } catch {
            return inMemory(key, because: error, diagnostics: diagnostics)
        }
    }

    private static func replace(
        _ old: KeyPair, madeOn binding: BoardBinding, _ board: BoardBinding, in directory: String,
        _ files: some FileOperations
    ) -> NodeIdentity {
        let key = KeyPair.generate()
        let aside = "\(directory)/identity-\(old.peer).pem"
        do {
            try files.rename(file(in: directory), to: aside)
        } catch {
            return inMemory(key, because: error)
        }
        let diagnostic = """
            this card was copied or moved: its identity \(old.peer) was made on \(binding), \
            this board is \(board); a new identity \(key.peer) was made, \
            the old one is kept in \(aside)
            """
        return create(key, board, in: directory, diagnostics: [diagnostic], files)
    }

    private static func inMemory(
        _ key: KeyPair, because error: FileError, diagnostics: [String] = []
    ) -> NodeIdentity {
        let diagnostic =
            "the identity \(key.peer) is kept in memory only, and the next start makes another: "
            + "\(error)"
        return NodeIdentity(key, ephemeral: true, diagnostics: diagnostics + [diagnostic])
    }

    package static func text(of key: KeyPair, on board: BoardBinding) -> [UInt8] {
        Array("\(bindingPrefix)\(board)\n".utf8) + key.pem()
    }

    package static func parse(
        _ bytes: [UInt8], path: String
    ) throws(IdentityError) -> (BoardBinding, KeyPair) {
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard line.hasPrefix(bindingPrefix),
            let binding = BoardBinding(text: line.dropFirst(bindingPrefix.count))
        else { throw .damaged(path: path, what: "its first line is not \"\(bindingPrefix)…\"") }
        do {
            return (binding, try KeyPair.parse(pem: bytes))
        } catch {
            throw .damaged(path: path, what: error.text)
        }
    }
}

/// Why there is no identity to start with. `description` says what, where, and what to do.
public enum IdentityError: Error, Equatable, CustomStringConvertible {
    case damaged(path: String, what: String)
    case unreadable(path: String, FileError)
    /// Others than its owner may read or write it.
    case open(path: String, permissions: UInt32)
    case missing(path: String)
    case foreign(path: String, made: BoardBinding, here: BoardBinding)
    /// What was named as a key is none.
    case noKey(path: String, what: String)

    /// Whether who asks may not read the key.
    public var isForbidden: Bool {
        if case .unreadable(_, let error) = self { error.isForbidden } else { false }
    }

    public var description: String {
        switch self {
        case .damaged(let path, let what):
            """
            \(path): the identity file is damaged: \(what). Put back a copy, or \
            move the file away: the next start then makes a new identity, which others see as \
            a new peer.
            """
        case .unreadable(let path, let error):
            "\(path): the identity cannot be used: \(error). Check the disk and the permissions."
        case .open(let path, let permissions):
            """
            \(path): others can read the identity's key (0\(String(permissions, radix: 8))); run \
            `chmod 600` on it. If somebody may have copied it, move the file away instead: the \
            next start then makes a new identity.
            """
        case .missing(let path):
            "\(path): there is no identity to adopt. It is made at the first start."
        case .foreign(let path, let made, let here):
            """
            \(path): this identity was made on another board (\(made)), this one is \(here). \
            If the board was replaced, run `rivulet identity adopt`; if the card is a copy, \
            move the file away.
            """
        case .noKey(let path, let what): "\(path): no key: \(what)"
        }
    }
}

extension KeyPairError {
    var text: String {
        switch self {
        case .noPrivateKey: "it has no readable private key"
        case .notP256: "its key is not an ECDSA P-256 key"
        case .noCertificate: "it has no readable certificate"
        case .mismatch: "its certificate does not belong to its key"
        }
    }
}
