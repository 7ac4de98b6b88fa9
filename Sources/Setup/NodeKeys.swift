import Configuration
import DurableFiles
import Glibc
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyKeys
import NodeShell

/// The key of a node and the certificates for it: what `rivulet identity` shows and changes.
public struct NodeKeys {
    private let settings: Settings
    private let files: OwnedFiles

    public init(_ settings: Settings) {
        self.settings = settings
        // What root makes has to be the node's.
        let isRoot = geteuid() == 0
        let owner = isRoot ? Owner(of: settings.state) : nil
        let isService = isRoot && settings.file == Settings.standardPath
        files = OwnedFiles(owner: owner ?? (isService ? Owner(user: SystemdUnit.user) : nil))
    }

    /// For people.
    public func lines() throws(StartError) -> [String] {
        guard let identity = try storedIdentity() else {
            throw StartError(
                "\(settings.state): there is no identity yet; the first start makes it, or "
                    + "`rivulet identity request`", .noInput)
        }
        var lines = ["peer         \(identity.peer)", "key          \(keyPath)"]
        guard settings.trust.kind == .authority else { return lines }
        let authority = try settings.authority(for: identity, Role(settings.role))
        lines += description(of: authority)
        return lines
    }

    /// What is wrong with the files of `trust: authority`, a line each: as those of secrets, they
    /// are looked at even where the rest of the machine is not.
    public func faults() -> (errors: [String], warnings: [String]) {
        guard settings.trust.kind == .authority else { return ([], []) }
        do throws(IdentityError) {
            guard let identity = try readIdentity() else {
                let text =
                    "there is no identity in \(settings.state) yet: `rivulet identity request` "
                    + "makes it, and prints what the authority signs"
                return ([settings.ofTrust(text)], [])
            }
            return faults(of: identity)
        } catch {
            let text = settings.ofTrust("\(error)")
            // Only root and the node itself may read its key.
            return error.isForbidden ? ([], [text]) : ([text], [])
        }
    }

    private func faults(of identity: NodeIdentity) -> (errors: [String], warnings: [String]) {
        do throws(StartError) {
            let authority = try settings.authority(for: identity, Role(settings.role))
            guard let warning = settings.dateWarning(on: authority) else { return ([], []) }
            return warning.isCertain ? ([warning.text], []) : ([], [warning.text])
        } catch {
            return ([error.description], [])
        }
    }

    /// What the authority is to sign, PEM; makes the identity if there is none.
    ///
    /// - Parameter role: what is asked for.
    public func request(as role: ConfiguredRole? = nil) throws(StartError) -> String {
        let identity = try anyIdentity()
        let uri = Certification.uri(of: Role(role ?? settings.role))
        return String(
            decoding: CertificateRequest.pem(for: identity, name: settings.name, uris: [uri]),
            as: UTF8.self)
    }

    /// Puts what the authority gave in place, if it is right; what was done, for people.
    public func store(_ chain: [UInt8]) throws(StartError) -> [String] {
        let trust = settings.trust
        guard trust.kind == .authority else {
            throw StartError(
                "\(settings.file): write `trust: {authority: FILE}` first, with the authority's "
                    + "certificate", .configuration)
        }
        let authority = try settings.authority(
            for: try anyIdentity(), Role(settings.role), content: chain)
        if let warning = settings.dateWarning(on: authority), warning.isCertain {
            throw StartError(warning.text, .data)
        }
        do {
            try AtomicFile.write(
                authority.pem, to: trust.certificate, permissions: 0o644, through: files)
        } catch {
            throw StartError(error)
        }
        return ["wrote \(trust.certificate); restart the node to use it"]
            + description(of: authority)
    }

    /// Binds the identity to this board; its PeerID.
    public func adopt() throws(StartError) -> PeerID {
        do throws(IdentityError) {
            return try NodeIdentity.adopt(stateDirectory: settings.state, through: files).peer
        } catch {
            throw StartError(error)
        }
    }

    private var keyPath: String { settings.trust.key ?? settings.state + "/identity.pem" }

    private func readIdentity() throws(IdentityError) -> NodeIdentity? {
        if let path = settings.trust.key { return try NodeIdentity.load(key: path) }
        return try NodeIdentity.stored(stateDirectory: settings.state)
    }

    private func storedIdentity() throws(StartError) -> NodeIdentity? {
        do throws(IdentityError) {
            return try readIdentity()
        } catch {
            throw StartError(error)
        }
    }

    /// Made if there is none.
    private func anyIdentity() throws(StartError) -> NodeIdentity {
        if let stored = try storedIdentity() { return stored }
        let identity: NodeIdentity
        do throws(IdentityError) {
            identity = try NodeIdentity.load(
                stateDirectory: settings.state, rule: .refuse, through: files)
        } catch {
            throw StartError(error)
        }
        guard !identity.ephemeral else {
            throw StartError(
                "\(settings.state): the identity cannot be read or made there; run this as root "
                    + "(with sudo)", .notPermitted)
        }
        return identity
    }

    private func description(of authority: Authority) -> [String] {
        let certification = authority.certification
        let roles = Role.allCases.filter(certification.names).map { "\($0)" }
        let (begin, end) = (certification.notBefore, certification.notAfter)
        let lines = [
            "certificate  \(settings.trust.certificate)",
            "authority    \(settings.trust.authority)",
            "roles        \(roles.isEmpty ? "none" : roles.joined(separator: ", "))",
            "valid        \(settings.day(begin)) to \(settings.day(end))",
        ]
        return lines
            + (settings.dateWarning(on: authority).map { ["warning      \($0.text)"] } ?? [])
    }
}

extension Owner {
    /// Whose this is; nil if there is nothing.
    fileprivate init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(user: status.st_uid, group: status.st_gid)
    }
}
