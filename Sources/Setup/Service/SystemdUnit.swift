import Configuration
import Glibc

/// A service of the packages.
struct SystemdUnit: Equatable, Sendable {
    /// `rivulet-agent.service`
    let name: String

    static let agent = SystemdUnit(name: "rivulet-agent.service")
    static let collector = SystemdUnit(name: "rivulet-collector.service")
    static let all = [agent, collector]
    /// As which the services run.
    static let user = "rivulet"

    private init(name: String) { self.name = name }

    /// The one that runs nodes of this role; nil: none does.
    init?(_ role: ConfiguredRole) {
        switch role {
        case .agent, .relay: self = .agent
        case .collector: self = .collector
        case .viewer: return nil
        }
    }

    /// What we write for it. `root` is where /etc is; tests give another.
    func dropIn(root: String = "") -> String { dropInFolder(root: root) + "/devices.conf" }

    private func dropInFolder(root: String) -> String { "\(root)/etc/systemd/system/\(name).d" }

    /// The unit's file; nil if it is not installed.
    func unit(root: String = "") -> String? {
        ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]
            .map { "\(root)\($0)/\(name)" }.first { access($0, F_OK) == 0 }
    }

    /// The unit and everything that is added to it on this machine, as systemd reads it; nil if it
    /// is not installed.
    func directives(root: String = "") -> UnitDirectives? {
        guard let unit = unit(root: root), let text = Self.text(unit) else { return nil }
        var directives = UnitDirectives()
        directives.read(text)
        for name in Self.names(in: dropInFolder(root: root)) where name.hasSuffix(".conf") {
            if let text = Self.text("\(dropInFolder(root: root))/\(name)") { directives.read(text) }
        }
        return directives
    }

    private static func text(_ path: String) -> String? {
        (try? SmallFile.read(path, limit: 64 * 1_024)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < 256, let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}

/// The directives of a unit's `[Service]` section, with what later files add and reset
/// (systemd.unit(5), systemd.syntax(7)).
struct UnitDirectives: Equatable {
    private var values: [String: [String]] = [:]

    mutating func read(_ text: String) {
        var isService = false
        // A backslash at the end goes on in the next line.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .reduce(
                into: [String]()
            ) { lines, line in
                if let last = lines.last, last.hasSuffix("\\") {
                    lines[lines.count - 1] = String(last.dropLast()) + " " + line
                } else {
                    lines.append(String(line))
                }
            }
        for line in lines.map(Self.trimmed) {
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("[") { isService = line == "[Service]" }
            let parts = line.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard isService, parts.count == 2 else { continue }
            let (key, value) = (Self.trimmed(String(parts[0])), Self.trimmed(String(parts[1])))
            // Nothing behind the sign takes back what there was.
            values[key] = value.isEmpty ? [] : (values[key] ?? []) + [value]
        }
    }

    /// Every value that still holds; nil: the key is not there.
    func all(_ key: String) -> [String]? { values[key] }

    /// The last value of a key that has one.
    func last(_ key: String) -> String? { values[key]?.last }

    /// The words of a list.
    func words(_ key: String) -> [String]? {
        values[key]?.flatMap { $0.split(separator: " ").map(String.init) }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" && $0 != "\r" }) else {
            return ""
        }
        return String(start[...end])
    }
}
