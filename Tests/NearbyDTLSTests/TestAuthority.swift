import DurableFiles
import FailingFiles
import Glibc
import NearbyCore
import NearbyKeys

@testable import NearbyDTLS

/// An authority made with the `openssl` program, in a folder of its own.
final class TestAuthority {
    let folder: String
    /// Its certificate.
    var anchors: String { folder + "/authority.pem" }

    init(in folder: String, name: String = "authority", key: [String] = ["ec:prime256v1"]) throws {
        self.folder = folder + "/" + name
        try SystemFiles().makeDirectories(self.folder, permissions: 0o700)
        try makeKey("authority", key)
        try openssl([
            "req", "-x509", "-new", "-key", path("authority.key"), "-out", anchors,
            "-subj", "/CN=\(name)", "-days", "3650", "-addext",
            "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign",
        ])
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// An identity with its request; `signed` certifies it.
    func makeIdentity(_ name: String) throws -> NodeIdentity {
        let identity = try NodeIdentity.load(stateDirectory: path(name), rule: .refuse)
        let request = CertificateRequest.pem(
            for: identity, name: name, uris: ["rivulet:role:agent"])
        try write(request, to: name + ".csr")
        return identity
    }

    /// Signs the request of this name; the certificate's path.
    @discardableResult
    func sign(
        _ name: String, as role: String? = nil, days: Int = 30, extensions: [String] = [],
        by issuer: String = "authority", options: [String] = []
    ) throws -> String {
        let lines = extensions + (role.map { ["subjectAltName=URI:rivulet:role:\($0)"] } ?? [])
        try write(Array((lines.joined(separator: "\n") + "\n").utf8), to: name + ".ext")
        try openssl(
            [
                "x509", "-req", "-in", path(name + ".csr"), "-CA", path(issuer + ".pem"),
                "-CAkey", path(issuer + ".key"), "-CAcreateserial", "-out", path(name + ".pem"),
                "-days", "\(days)", "-extfile", path(name + ".ext"),
            ] + options)
        return path(name + ".pem")
    }

    /// An authority below this one.
    func makeIntermediate(
        _ name: String, by issuer: String = "authority", key: [String] = ["ec:prime256v1"]
    ) throws {
        try makeKey(name, key)
        try openssl([
            "req", "-new", "-key", path(name + ".key"), "-out", path(name + ".csr"),
            "-subj", "/CN=\(name)",
        ])
        try sign(name, extensions: ["basicConstraints=critical,CA:TRUE"], by: issuer)
    }

    /// Puts these files into one, which is called so.
    @discardableResult
    func join(_ names: [String], as name: String) throws -> String {
        var bytes: [UInt8] = []
        for part in names {
            bytes +=
                try AtomicFile.read(path(part), limit: 1 << 16, through: SystemFiles()) ?? []
        }
        try write(bytes, to: name)
        return path(name)
    }

    func load(
        _ identity: NodeIdentity, _ name: String, anchors other: String? = nil
    ) throws -> Authority {
        try Authority.load(
            anchors: other ?? anchors, certificate: path(name + ".pem"), for: identity)
    }

    /// An identity, signed: what a node has.
    func makeNode(_ name: String, as role: String? = nil, days: Int = 30) throws
        -> OpenSSLCryptography
    {
        let identity = try makeIdentity(name)
        try sign(name, as: role, days: days)
        return OpenSSLCryptography(identity: identity.certified(by: try load(identity, name)))
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        try AtomicFile.write(bytes, to: path(name), permissions: 0o600, through: SystemFiles())
    }

    private func makeKey(_ name: String, _ algorithm: [String]) throws {
        let parts = algorithm[0].split(separator: ":").map(String.init)
        let curve =
            parts[0] == "ec" ? "ec_paramgen_curve:\(parts[1])" : "rsa_keygen_bits:\(parts[1])"
        try openssl([
            "genpkey", "-algorithm", parts[0], "-pkeyopt", curve, "-out", path(name + ".key"),
        ])
    }

    static var hasProgram: Bool { access("/usr/bin/openssl", X_OK) == 0 }
}

/// Runs the program; its exit status.
func opensslStatus(_ arguments: [String]) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in Int32(0)...2 {
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var pointers = (["openssl"] + arguments).map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, "/usr/bin/openssl", &actions, nil, &pointers, environ)
    guard result == 0 else {
        throw FileError(operation: "posix_spawn", path: "openssl", code: result)
    }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    return status
}

func openssl(_ arguments: [String]) throws {
    let status = try opensslStatus(arguments)
    guard status == 0 else {
        throw FileError(
            operation: "openssl " + arguments.joined(separator: " "), path: "", code: status)
    }
}
