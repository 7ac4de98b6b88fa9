import ArgumentParser
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Survey

struct Browse: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who is near: heard on a link of the node that runs here.",
        discussion: """
            On a terminal a table that is redrawn in place; elsewhere a line for each node that is \
            found, changes, or is lost. What a node says of itself is unproved until it is a \
            neighbour. Ctrl-C ends it.

            Where no node runs, this listens itself in the network of the configuration, over \
            UDP, and says nothing there but to ask for discovery info. Nodes that have settled \
            speak up twice a minute, so it may take half a minute until all are heard; --once \
            waits so long then.
            """)

    @Flag(help: "Print those that are near now, and end.") var once = false
    @Flag(help: "Print a JSON object for each change, a line each.") var json = false
    @OptionGroup var node: NodeSocket

    func run() throws {
        var output = BrowseOutput(isOnce: once, isJSON: json)
        guard let query = try runningNode() else {
            let listener: Listener
            do {
                listener = try Listener(try node.file.settings())
            } catch {
                throw Failure(error)
            }
            StandardErrorLog().write(
                .diagnostic, "no node runs here: listening as one that nobody sees")
            output.begin()
            defer { output.end() }
            try listener.run(for: once ? .seconds(35) : nil) { try output.show($0) }
            if once { output.finish() }
            return
        }
        Interruption.watch()
        output.begin()
        defer { output.end() }
        while !Interruption.came {
            try output.show(near(query))
            if once { return output.finish() }
            Interruption.sleep(until: MonotonicClock.now() + .seconds(1))
        }
    }

    /// Nil where none runs and there is a configuration to listen by.
    private func runningNode() throws -> StatusQuery? {
        guard node.socket == nil, node.file.path != nil else { return try node.query() }
        let sockets = try node.candidates()
        do throws(StartError) {
            return try StatusQuery(anyOf: sockets)
        } catch {
            guard error.status == .unavailable else { throw Failure(error) }
            return nil
        }
    }

    private func near(_ query: StatusQuery) throws -> String {
        do {
            return try query.ask("near")
        } catch {
            throw Failure(error)
        }
    }
}

/// Who is near, on standard output.
struct BrowseOutput {
    private var list = NearList()
    private let isOnce: Bool
    private let isJSON: Bool
    private let isLive: Bool

    init(isOnce: Bool, isJSON: Bool) {
        self.isOnce = isOnce
        self.isJSON = isJSON
        isLive = !isOnce && !isJSON && Terminal.takesSequences
    }

    /// Another screen, without a cursor.
    func begin() { switchScreen("\u{1b}[?1049h\u{1b}[?25l") }

    func end() { switchScreen("\u{1b}[?25h\u{1b}[?1049l") }

    private func switchScreen(_ sequence: String) {
        guard isLive else { return }
        print(sequence, terminator: "")
        fflush(nil)
    }

    /// Throws where nobody reads any more: an end, and no fault.
    mutating func show(_ near: String) throws {
        let changes: [(NearList.Change, NearList.Entry)]
        do throws(SurveyError) {
            changes = try list.update(near)
        } catch {
            throw Failure(error)
        }
        if isLive { return try redraw() }
        guard !isOnce else { return }
        for (change, entry) in changes { try StandardOutput.show(text(change, entry)) }
    }

    /// What `--once` prints.
    func finish() {
        if isJSON {
            for entry in list.entries { print(text(.found, entry)) }
        } else {
            for line in list.table(columns: 80, rows: .max).dropFirst(2) { print(line) }
        }
    }

    private func text(_ change: NearList.Change, _ entry: NearList.Entry) -> String {
        isJSON ? "\(NearList.json(change, entry))" : NearList.line(change, entry)
    }

    /// Each line is cleared behind its end, and what is below the last.
    private func redraw() throws {
        let size = Terminal.size
        let rows = list.table(
            columns: size.columns == 0 ? 80 : size.columns,
            rows: size.lines == 0 ? 24 : size.lines)
        let text = rows.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n")
        try StandardOutput.show("\u{1b}[H" + text + "\u{1b}[J", terminator: "")
    }
}
