import Configuration
import Glibc
import NearbyCore

/// Where a node keeps its things.
public struct Places: Equatable, Sendable {
    public let configuration: String
    public let secret: String
    public let state: String
    public let control: String
    /// Whether the services of the packages go by this configuration.
    public let isSystem: Bool
    /// Whether only root can make them.
    let needsRoot: Bool

    /// What the packages' services use. Another path of the configuration leaves the services
    /// alone.
    public init(configuration: String = Settings.standardPath) {
        self.configuration = configuration
        secret = "/etc/rivulet/secret"
        state = "/var/lib/rivulet"
        control = Settings.standardControl
        isSystem = configuration == Settings.standardPath
        needsRoot = true
    }

    /// Everything in one folder of its own: for trying out, and for several nodes on one machine.
    public init(directory: String) {
        let folder = Self.full(directory)
        configuration = folder + "/config.yaml"
        secret = folder + "/secret"
        state = folder + "/state"
        control = folder + "/agent.sock"
        isSystem = false
        needsRoot = false
    }

    private static func full(_ path: String) -> String {
        var path = path
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        guard path.utf8.first != UInt8(ascii: "/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }

    /// Letters, digits and `./_-` alone: nothing that YAML or a shell reads as something else.
    static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                || (0x61...0x7a).contains(byte) || "_-./".utf8.contains(byte)
        }
    }

    /// A path as a suggested command has it: in single quotes where a shell needs them.
    static func shellWord(_ path: String) -> String {
        guard !isPlain(path) else { return path }
        let parts = path.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.joined(separator: "'\\''") + "'"
    }

    static func folder(of path: String) -> String { path.pathFolder ?? "." }
}
