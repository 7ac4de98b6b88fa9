extension Settings {
    /// Where every command looks for the configuration that no option names.
    public static let standardPath = "/etc/rivulet/config.yaml"
    /// What to do where that is missing.
    public static let makingAdvice =
        "make one with `sudo rivulet init` (new network) or `sudo rivulet join`"
    /// The control socket of a node whose configuration names none.
    public static let standardControl = "/run/rivulet/agent.sock"

    /// Where the control socket goes if it cannot be made where it belongs.
    public static func fallbackControl(state: String) -> String { state + "/control.sock" }
}

/// Where a node keeps things, as its configuration says. For commands beside a node: what else is
/// in the file, and whether they may read the secret, is no concern of theirs.
public struct ConfiguredPaths: Hashable, Sendable {
    public let state: String
    public let control: String
    /// The collector's database; nil: nothing is stored.
    public let store: String?

    /// Where the node's control socket can be, the likeliest first.
    public var controls: [String] { [control, Settings.fallbackControl(state: state)] }

    /// Throws what is wrong if the file cannot be read or is no YAML.
    public static func load(_ path: String) throws(Mistake) -> ConfiguredPaths {
        try decode(try text(of: path), file: path)
    }

    package static func text(of path: String) throws(Mistake) -> [UInt8] {
        do throws(SmallFile.Fault) {
            return try SmallFile.read(path, limit: YAMLNode.byteCountMax)
        } catch {
            throw Mistake(unreadable: path, error)
        }
    }

    public static func decode(_ text: [UInt8], file: String) throws(Mistake) -> ConfiguredPaths {
        let root = try YAMLNode.parse(text, file: file)
        let mistakes = MistakeList(file: file)
        let section = Section(root, Settings.file, mistakes)
        let state = section.text("state") ?? ""
        let collector = section.section("collector", Settings.collector)
        return ConfiguredPaths(
            state: state, control: section.text("control") ?? "",
            store: Settings.store(collector, state: state))
    }
}
