import Configuration
import DurableFiles
import Glibc
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux
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
        files = OwnedFiles(owner: owner ?? (isService ? Owner(user: Service.user) : nil))
    }

    /// For people.
    public func lines() throws(StartError) -> [String] {
        guard let identity = try settings.storedIdentity() else {
            throw StartError(
                "\(settings.state): there is no identity yet; the first start makes it, or "
                    + "`rivulet identity request`", .noInput)
        }
        var lines = ["peer         \(identity.peer)", "key          \(keyPath)"]
        guard case .authority(let authority) = settings.trust else { return lines }
        lines += try description(of: authority, for: identity)
        return lines
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
        guard case .authority(let trust) = settings.trust else {
            throw StartError(
                "\(settings.file): write `trust: {authority: FILE}` first, with the authority's "
                    + "certificate", .configuration)
        }
        let identity = try anyIdentity()
        let authority: Authority
        do throws(AuthoritySettings.Fault) {
            authority = try trust.load(for: identity, Role(settings.role), content: chain)
        } catch {
            throw StartError(error.text, .data)
        }
        let fault = trust.fault(of: authority.certification, WallClock.read(), isStarting: false)
        if let fault, fault.isError { throw StartError(fault.text, .data) }
        do {
            try AtomicFile.write(
                authority.pem, to: trust.certificate, permissions: 0o644, through: files)
        } catch {
            throw StartError(error)
        }
        return try ["wrote \(trust.certificate); restart the node to use it"]
            + description(of: trust, for: identity)
    }

    /// Binds the identity to this board; its PeerID.
    public func adopt() throws(StartError) -> PeerID {
        do throws(IdentityError) {
            return try Identity.adopt(stateDirectory: settings.state, through: files).peer
        } catch {
            throw StartError(error)
        }
    }

    private var keyPath: String {
        if case .authority(let authority) = settings.trust, let key = authority.key { return key }
        return settings.state + "/identity.pem"
    }

    /// Made if there is none.
    private func anyIdentity() throws(StartError) -> Identity {
        if let stored = try settings.storedIdentity() { return stored }
        let identity: Identity
        do throws(IdentityError) {
            identity = try Identity.load(
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

    private func description(
        of trust: AuthoritySettings, for identity: Identity
    ) throws(StartError) -> [String] {
        let certification: Certification
        do throws(AuthoritySettings.Fault) {
            certification = try trust.load(for: identity, Role(settings.role)).certification
        } catch {
            throw StartError("trust: \(error.text)", .data)
        }
        let roles = certification.roles.map { "\($0)" }.sorted().joined(separator: ", ")
        let (begin, end) = (certification.notBefore, certification.notAfter)
        let lines = [
            "certificate  \(trust.certificate)", "authority    \(trust.anchors)",
            "roles        \(roles.isEmpty ? "none" : roles)",
            "valid        \(AuthoritySettings.day(begin)) to \(AuthoritySettings.day(end))",
        ]
        let fault = trust.fault(of: certification, WallClock.read(), isStarting: false)
        return lines + (fault.map { ["warning      \($0.text)"] } ?? [])
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
