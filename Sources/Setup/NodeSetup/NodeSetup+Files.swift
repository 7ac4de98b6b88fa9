import Configuration
import DurableFiles
import Glibc
import NearbyCore
import NearbyDTLS
import NodeShell

/// Folders, secret, identity.
extension NodeSetup {
    /// For the service's user to pass through: what is secret in it says so itself.
    func makeConfigurationFolder() throws(StartError) {
        let folder = Places.folder(of: places.configuration)
        try files.makeFolder(folder, permissions: places.needsRoot ? 0o755 : 0o700)
        if files.owner != nil, try files.open(folder) {
            tell("\(folder): others may look into it now, as the service has to")
        }
    }

    /// The secret that is there is kept, unless another one was given.
    func makeSecret() throws(StartError) {
        let path = places.secret
        guard access(path, F_OK) == 0 else {
            try files.makeFolder(Places.folder(of: path), permissions: 0o755)
            try write(wish.secrets ?? [Self.newSecret()], to: path)
            return tell("\(wish.secrets == nil ? "made a" : "wrote the") secret: \(path)")
        }
        let isReplaceable = wish.isForced && wish.secrets != nil
        let there: [[UInt8]]
        switch Secret.load(path) {
        case .success(let secrets): there = secrets
        case .failure where isReplaceable: there = []
        case .failure(let fault): throw StartError("\(path): \(fault)", .data)
        }
        guard let wanted = wish.secrets, wanted != there else {
            try adopt(path)
            return tell("kept the secret that is there: \(path)")
        }
        guard isReplaceable else {
            throw StartError(
                "\(path): another secret is there; --force replaces it and keeps the old one as "
                    + "\(path).bak", .cannotCreate)
        }
        _ = try files.keepOld(path, permissions: 0o600, isOfTheNode: true)
        try write(wanted, to: path)
        tell("replaced the secret, and kept the old one: \(path).bak")
    }

    private func write(_ secrets: [[UInt8]], to path: String) throws(StartError) {
        let text = secrets.map { Secret.text($0) + "\n" }.joined()
        try files.write(Array(text.utf8), to: path, permissions: 0o600, isOfTheNode: true)
    }

    /// From the kernel (getrandom(2)).
    private static func newSecret() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<Secret.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Where identity and readings are kept.
    func makeState() throws(StartError) {
        try files.makeFolder(places.state, permissions: 0o700, isOfTheNode: true)
        try adopt(places.state)
    }

    /// Who this node is; its identity is made if there is none.
    func ownPeer(
        state: String, rule: NodeIdentity.CloneRule = .makeNew
    ) throws(StartError) -> PeerID {
        let identity: NodeIdentity
        do throws(IdentityError) {
            identity = try NodeIdentity.load(
                stateDirectory: state, rule: rule, through: OwnedFiles(owner: files.owner))
        } catch {
            throw StartError(error)
        }
        guard !identity.ephemeral else {
            throw StartError(
                "\(state): the identity cannot be read or made there; run this as root (with sudo)",
                .notPermitted)
        }
        identity.diagnostics.forEach(tell)
        return identity.peer
    }

    /// What was made by root becomes the service's.
    func adopt(_ path: String) throws(StartError) {
        if try files.adopt(path) {
            tell("\(path) belongs to the user \(SystemdUnit.user) now, as whom the service runs")
        }
    }
}
