/// A file in which overlays are asked for: config.txt, armbianEnv.txt, uEnv.txt.
struct BootFile {
    let path: String
    private let lines: [String]
    /// The overlays beside config.txt; nil beside other files, which are not looked at.
    private let overlays: [String]?

    /// The first of the paths that there is.
    init?(firstOf paths: [String], _ tree: SystemTree) {
        guard let path = paths.first(where: tree.exists) else { return nil }
        self.path = path
        lines = tree.lines(path).map { $0.filter { $0 != "\r" } }
        let folder = path.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/overlays"
        overlays = path.hasSuffix("/config.txt") ? tree.names(in: folder) : nil
    }

    /// Whether this system has what the line asks for. Systems with the kernel's own device trees,
    /// such as Debian, have no parameters in them and none of Raspberry Pi OS's overlays, whose
    /// folder has a README.
    func isPossible(_ wanted: String) -> Bool {
        guard let overlays else { return true }
        let (key, values) = Self.parts(wanted)
        switch key {
        case "dtparam": return overlays.contains("README")
        case "dtoverlay":
            let name = values.first?.prefix { $0 != "," } ?? ""
            return overlays.contains(name + ".dtbo")
        default: return true
        }
    }

    /// Whether a line asks for at least what this one does: the same, or `overlays=a b` where
    /// `overlays=a` is wanted. What is commented out does not count.
    func contains(_ wanted: String) -> Bool {
        let (key, values) = Self.parts(wanted)
        return lines.contains { line in
            let (lineKey, lineValues) = Self.parts(line)
            return lineKey == key && values.allSatisfy(lineValues.contains)
        }
    }

    private static func parts(_ line: String) -> (key: Substring, values: [Substring]) {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0], parts.count < 2 ? [] : parts[1].split(separator: " "))
    }
}
