import Glibc

@testable import CollectorConfiguration
@testable import Configuration

/// A folder of its own for one test, removed with it.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/rivulet-configuration-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        for name in created { unlink(path + "/" + name) }
        rmdir(path)
    }

    private var created: [String] = []

    /// Writes a file and gives its path.
    func write(_ name: String, _ text: String, mode: mode_t = 0o600) -> String {
        created.append(name)
        let file = path + "/" + name
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, mode)
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        fchmod(descriptor, mode)
        close(descriptor)
        return file
    }
}

enum Sample {
    static let bytes = (0..<16).map { UInt8(truncatingIfNeeded: $0 * 17 + 3) }
    static let secret = Secret.text(bytes)
    static let otherBytes = (0..<16).map { UInt8(truncatingIfNeeded: $0 * 29 + 5) }
    static let otherSecret = Secret.text(otherBytes)

    /// All there are, as messages name them.
    static let drivers: String = SensorSettings.names.joined(separator: ", ")

    /// `trust: any` and the given lines.
    static func decode(_ lines: String) -> Settings.Outcome {
        whole(lines).node
    }

    /// As `decode`, with what only collectors have.
    static func whole(_ lines: String) -> CollectorSettings.Outcome {
        CollectorSettings.decode(Array(("trust: any\n" + lines).utf8), file: "f")
    }

    /// The messages, without the file's name; lines count from that after `trust: any`.
    static func mistakes(_ lines: String) -> [String] {
        texts(decode(lines))
    }

    static func texts(_ outcome: Settings.Outcome) -> [String] {
        switch outcome {
        case .good: []
        case .bad(let mistakes): mistakes.map { String($0.description.dropFirst(2)) }
        }
    }
}

extension CollectorSettings.Outcome {
    var settings: CollectorSettings? {
        if case .good(let settings) = self { settings } else { nil }
    }

    /// Without what only collectors have.
    var node: Settings.Outcome {
        switch self {
        case .good(let settings): .good(settings.node)
        case .bad(let mistakes): .bad(mistakes)
        }
    }
}

extension Settings.Outcome {
    var settings: Settings? { if case .good(let settings) = self { settings } else { nil } }
}
