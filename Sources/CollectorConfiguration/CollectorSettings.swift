import Configuration
import Telemetry

/// The whole configuration of a collector or viewer: what every node has, and what stands behind a
/// collector. Agents do not link this; in their files none of it may stand (`Settings` says so).
public struct CollectorSettings: Sendable {
    /// What a check found: settings where nothing is wrong, otherwise every mistake in the file's
    /// order.
    public enum Outcome: Sendable {
        case good(CollectorSettings)
        case bad([Mistake])
    }

    /// What every node has.
    public var node: Settings
    /// The page; nil: none is served.
    public var web: WebSettings?
    /// Where readings go behind the store, at most 16.
    public var outputs: [OutputSettings] = []
    /// What a collector says of agents, in the order of the file; at most 512.
    public var agents: [AgentWords] = []
    /// In the order of the file; at most 64.
    public var alarms: [AlarmSettings] = []

    /// Decodes the text of a configuration, of whatever role. `file` is its name in messages. Reads
    /// the files with secrets that it names.
    public static func decode(_ text: [UInt8], file: String) -> Outcome {
        read { Settings.decode(text, file: file, also: $0) }
    }

    /// Reads and decodes a file.
    public static func load(_ path: String) -> Outcome {
        read { Settings.load(path, also: $0) }
    }

    /// Reads and decodes what comes on standard input.
    public static func loadStandardInput() -> Outcome {
        read { Settings.loadStandardInput(also: $0) }
    }

    /// What a file says of agents, as far as it is right: for commands beside a node. Throws what
    /// is wrong if the file cannot be read or is no YAML.
    public static func agents(inFile path: String) throws(Mistake) -> [AgentWords] {
        let root = try YAMLNode.parse(try ConfiguredPaths.text(of: path), file: path)
        let mistakes = MistakeList(file: path)
        return AgentWords.decode(Section(root, Settings.file, mistakes), mistakes)
    }

    private static func read(_ decode: (Settings.Also) -> Settings.Outcome) -> Outcome {
        var found: CollectorSettings?
        let outcome = decode { found = CollectorSettings($0, $1, $2) }
        switch outcome {
        case .bad(let mistakes): return .bad(mistakes)
        case .good(let settings):
            guard var found else { return .bad([]) }
            found.node = settings
            return .good(found)
        }
    }

    private init(_ settings: Settings, _ section: Section, _ mistakes: MistakeList) {
        node = settings
        web = WebSettings(
            section.section("web", WebSettings.table), isGiven: section.node("web") != nil)
        agents = AgentWords.decode(section, mistakes)
        outputs = OutputSettings.decode(section, hasStore: settings.store != nil)
        alarms = AlarmSettings.decode(section)
        AlarmSettings.checkBrokers(alarms, outputs, section)
    }

    /// Of a viewer beside the collector of these settings: that one serves the page, tells of
    /// alarms and feeds the outputs; both call agents the same.
    public func lookingIn(_ node: Settings) -> CollectorSettings {
        var settings = self
        settings.node = node
        settings.web = nil
        settings.outputs = []
        settings.alarms = []
        return settings
    }
}
