import Foundation

/// A received file under the name of its resource, as programs take the last part of its URL for
/// that: in a folder of its own, beside where it was, which goes with this object.
final class NamedFile: Sendable {
    let url: URL
    private let folder: String?

    /// - Parameters:
    ///   - path: Where it is; it stays there if it cannot have the name.
    ///   - name: Of a file, and no path.
    init(_ path: String, named name: String) {
        let folder = path + ".named"
        let target = "\(folder)/\(name)"
        let isMoved =
            Self.isFileName(name) && mkdir(folder, 0o700) == 0 && rename(path, target) == 0
        if !isMoved { rmdir(folder) }
        self.folder = isMoved ? folder : nil
        url = URL(fileURLWithPath: isMoved ? target : path)
    }

    deinit {
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// By bytes, as the file system sees it: a slash with an accent behind it is one character, and
    /// equals no slash. What follows a NUL would be in the URL and not in the file's name.
    private static func isFileName(_ name: String) -> Bool {
        !["", ".", ".."].contains(name)
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
