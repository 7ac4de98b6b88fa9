import Glibc

/// What a path in a configuration means.
enum PathText {
    /// A path that is no good: `~` is the shell's.
    static func fault(_ path: String, _ key: String) -> String? {
        guard path.hasPrefix("~") else { return nil }
        let rest = path.drop { $0 != "/" }
        return "\(key) is '\(PlainText.shown(path))'; ~ stands for a home folder in a shell only; "
            + "write the full path, such as \(PlainText.shown("/home/pi" + rest))"
    }

    /// What a relative path comes to; nil for a full one.
    static func remark(_ path: String, _ key: String) -> String? {
        guard !path.hasPrefix("/"), !path.hasPrefix("~"), !path.isEmpty else { return nil }
        return "\(key) is '\(PlainText.shown(path))', counted from the folder in which the program "
            + "is started; here that is \(PlainText.shown(folder + "/" + path)): write the full "
            + "path"
    }

    private static var folder: String {
        guard let path = getcwd(nil, 0) else { return "" }
        defer { free(path) }
        let text = String(cString: path)
        return text == "/" ? "" : text
    }
}
