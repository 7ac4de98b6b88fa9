import Glibc

/// The folders below /run that systemd made for this service (RuntimeDirectory=).
struct ServiceFolders {
    private let folders: [String]

    /// Reads RUNTIME_DIRECTORY: paths with colons between them.
    init() { self.init(getenv("RUNTIME_DIRECTORY").map { String(cString: $0) } ?? "") }

    init(_ paths: String) { folders = paths.split(separator: ":").map(String.init) }

    /// Who else may use a socket at this path: in a folder of the service its own group, since the
    /// folder's mode says who gets there at all; elsewhere nobody.
    func group(of path: String, own: UInt32 = getgid()) -> UInt32? {
        guard own != 0 else { return nil }
        return folders.contains { path.utf8.starts(with: ($0 + "/").utf8) } ? own : nil
    }
}
