import Glibc

/// What a path in a configuration means.
package enum PathText {
    /// A path that is no good: `~` and `$HOME` are the shell's.
    package static func fault(_ path: String, _ key: String) -> String? {
        guard let first = path.first, first == "~" || first == "$" else { return nil }
        let rest = path.drop { $0 != "/" }
        let meaning =
            first == "~"
            ? "~ stands for a home folder in a shell only"
            : "\(PlainText.shown(String(path.prefix { $0 != "/" }))) is replaced in a shell only"
        return "\(key) is '\(PlainText.shown(path))'; \(meaning); write the full path, such as "
            + PlainText.shown("/home/pi" + rest)
    }

    /// What a relative path comes to; nil for a full one, and for `-`, which is a standard stream.
    static func warning(_ path: String, _ key: String) -> String? {
        guard !path.hasPrefix("/"), !path.hasPrefix("~"), !path.isEmpty, path != "-" else {
            return nil
        }
        return "\(key) is '\(PlainText.shown(path))', relative to the folder in which the program "
            + "is started; from here that is \(PlainText.shown(folder + "/" + path)): write the "
            + "full path"
    }

    private static var folder: String {
        guard let path = getcwd(nil, 0) else { return "" }
        defer { free(path) }
        let text = String(cString: path)
        return text == "/" ? "" : text
    }
}
