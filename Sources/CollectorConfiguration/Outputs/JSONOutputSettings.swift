import Configuration
import NearbyCore

/// `json:` of an output.
public struct JSONOutputSettings: Equatable, Sendable {
    public enum Place: Equatable, Sendable {
        /// Beyond `sizeMax` bytes the file is renamed, and at most `filesMax` of these are kept.
        case file(String, sizeMax: Int, filesMax: Int)
        case standardOutput
        /// Kept running; with `acknowledges`, it writes a line for each batch that it has.
        case command([String], acknowledges: Bool)
    }

    public var place: Place
    /// How long a batch may take.
    public var timeLimit: Duration

    static let table = KeyTable(
        "json",
        [
            Key(
                "file", .path, .described("none"),
                "The file that lines are appended to; `-` is standard output, where no table is "
                    + "printed then."),
            Key(
                "rotate-size", .size(4_096...(64 << 30)), .value("100MiB"),
                "When the file reaches this size, it is renamed to FILE.1, FILE.1 to FILE.2, and "
                    + "so on."),
            Key(
                "rotate-count", .integer(0...1_000), .value("10"),
                "How many renamed files are kept."),
            Key(
                "command", .list(element: "a word of the command line", most: 64),
                .described("none"),
                "Instead of a file: a program that is kept running and reads the lines. There is "
                    + "no shell in between."),
            Key(
                "acknowledge", .flag, .value("false"),
                "Whether the command answers each batch, which ends with an empty line, with a "
                    + "line once it has stored it. Otherwise lines count as delivered when they "
                    + "are in the pipe."),
            Key(
                "time-limit", .duration(.seconds(1) ... .seconds(3_600)), .value("10s"),
                "How long the command may take for a batch before it is killed and started again."),
        ])

    init(_ section: Section) {
        timeLimit = section.duration("time-limit")
        let command = section.list("command").map(\.text)
        let file = section.text("file")
        switch (file, section.node("command")) {
        case ("-"?, nil): place = .standardOutput
        case (let path?, nil):
            place = .file(
                path, sizeMax: section.integer("rotate-size"),
                filesMax: section.integer("rotate-count"))
        case (nil, .some): place = .command(command, acknowledges: section.flag("acknowledge"))
        default:
            place = .standardOutput
            section.addNotOne(of: ["file", "command"], in: "json", at: "file")
        }
        if section.node("command") != nil, command.first?.hasPrefix("/") != true {
            section.add("command", "command must begin with the absolute path of a program")
        }
        let foreign: [String] =
            switch place {
            case .file: ["acknowledge", "time-limit"]
            case .standardOutput: ["acknowledge", "time-limit", "rotate-size", "rotate-count"]
            case .command: ["rotate-size", "rotate-count"]
            }
        for key in foreign where section.node(key) != nil {
            section.add(key, "\(key) has no use here; leave it out")
        }
    }

    /// The file, or the program without its arguments, which may hold what nobody is to see.
    public var target: String {
        switch place {
        case .file(let path, _, _): path
        case .standardOutput: "standard output"
        case .command(let words, _): words.first ?? ""
        }
    }
}
