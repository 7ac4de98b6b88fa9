/// A file in which overlays are asked for: config.txt, armbianEnv.txt, uEnv.txt.
struct BootFile {
    let path: String
    private let lines: [String]

    /// The first of the paths that there is.
    init?(firstOf paths: [String], _ tree: SystemTree) {
        guard let path = paths.first(where: tree.exists) else { return nil }
        self.path = path
        lines = tree.lines(path).map { $0.filter { $0 != "\r" } }
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
