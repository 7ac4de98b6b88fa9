import ArgumentParser
import Boards
import Collector
import Configuration
import Glibc
import NearbyLinux
import NodeShell

struct ShowBoard: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "board",
        abstract: "Show this board: its pins, buses, missing overlays and traps.",
        discussion: "A name shows another board; --all lists the boards that are known.")

    @Option(help: "Look for board files in this folder only.") var boards: String?
    @Flag(help: "List all boards that are known.") var all = false
    @Argument(help: "Another board, such as raspberrypi,5-model-b.") var name: String?

    func validate() throws {
        if all, name != nil { throw ValidationError("--all and a name exclude each other") }
    }

    func run() throws {
        let library = BoardLibrary(folders: boards.map { [$0] } ?? BoardLibrary.standardFolders)
        if all { return try list(library) }
        if let name { return try show(name, library) }
        let machine = MachineIdentity()
        let answer = library.board(of: machine)
        warn(answer.mistakes)
        if let board = answer.board, let file = answer.file {
            print(board, file, root: "")
        } else {
            Swift.print(UnknownBoardReport(machine, library).text, terminator: "")
        }
    }

    private func list(_ library: BoardLibrary) throws {
        let (boards, mistakes) = library.all()
        let width = boards.map { $0.board.name.count }.max() ?? 0
        for (board, file) in boards {
            let name = board.name + String(repeating: " ", count: width - board.name.count)
            let status = board.binary == .none ? "no binary yet" : board.binary.rawValue
            Swift.print("\(name)  \(status)  \(file)")
        }
        for mistake in mistakes { Swift.print(mistake) }
        if boards.isEmpty {
            throw noFiles(library)
        }
        if !mistakes.isEmpty { throw Failure("", .data) }
    }

    private func show(_ name: String, _ library: BoardLibrary) throws {
        let answer = library.board(named: name)
        warn(answer.mistakes)
        guard let board = answer.board, let file = answer.file else {
            if library.names.isEmpty { throw noFiles(library) }
            throw Failure(
                "no board is called \(PlainText.shown(name)); "
                    + Suggestion.text(for: name, among: library.names), .noInput)
        }
        let isHere = library.board(of: MachineIdentity()).file == file
        print(board, file, root: isHere ? "" : nil)
    }

    private func noFiles(_ library: BoardLibrary) -> Failure {
        Failure(
            "there are no board files in \(library.folders.joined(separator: ", ")); copy `boards` "
                + "from the source there", .noInput)
    }

    private func print(_ board: Board, _ file: String, root: String?) {
        let report = BoardReport(
            board, file: file, root: root, colours: Terminal.takesColours)
        Swift.print(report.text, terminator: "")
    }

    private func warn(_ mistakes: [Mistake]) {
        for mistake in mistakes { StandardErrorLog().write(.warning, mistake.description) }
    }
}

struct FindSensors: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sensors",
        abstract: "List what is attached to this machine, as YAML to paste into a configuration.",
        discussion: "Only looks through /sys and /dev; nothing is sent over a bus.")

    @Flag(help: "Read each of them once.") var read = false

    @Option(help: "Read the sensors of this configuration once instead.") var config: String?

    func run() throws {
        if let config { return try show(SensorTrial.read(sensorsInFile: config)) }
        let yaml = AttachedSensors().yaml(drivers: SensorSettings.names)
        guard read else { return print(yaml, terminator: "") }
        try show(SensorTrial.read(sensorsIn: yaml))
    }

    private func show(_ outcome: SensorTrial.Outcome) throws {
        switch outcome {
        case .lines(let lines): for line in lines { print(PrintableText(line).text) }
        case .bad(let mistakes): throw Failure(mistakes)
        }
    }
}
