import ArgumentParser
import Configuration
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Survey

struct Ping: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure round trips to a node, through the node that runs here.",
        discussion: """
            The node is asked over the channel that the one here has with it, from end to end, \
            ahead of waiting readings; without a channel, through the mesh, among fresh readings.

            Ctrl-C ends it with a summary. Exit status: 0 if anything was answered, 64 for a wrong \
            command line or an ambiguous name, 66 for an unknown one, 69 when no node runs here, \
            there is no route, or nothing was answered, 75 when the node that runs here went away.
            """)

    @Argument(help: "The node's name, or its PeerID or the first two groups of it.")
    var name: String
    @Option(
        name: .shortAndLong, parsing: .unconditional,
        help: "End after so many questions; otherwise at Ctrl-C.")
    var count: Int?
    @Option(
        name: .shortAndLong, parsing: .unconditional, help: "Between two questions; otherwise 1s.",
        transform: Span.parse)
    var interval = Span(duration: .seconds(1))
    @Option(
        parsing: .unconditional, help: "How long an answer may take, at most 10s; otherwise 2s.",
        transform: Span.parse)
    var timeout = Span(duration: .seconds(2))
    @Flag(help: "Print the summary only, as one JSON object.") var json = false
    @OptionGroup var node: NodeSocket

    func validate() throws {
        if name.isEmpty { throw ValidationError("the name is empty: give a node's name or PeerID") }
        if let count, !(1...1_000_000).contains(count) {
            throw ValidationError("--count wants a number from 1 to 1000000")
        }
        guard Duration.milliseconds(10)...Duration.seconds(3_600) ~= interval.duration else {
            throw ValidationError("--interval wants 10ms to 1h")
        }
        try timeout.requirePatience()
    }

    func run() throws {
        let asker = try Asker(node)
        let peer = try asker.peer(named: name)
        var report = PingReport(asker.map, peer)
        let began = MonotonicClock.now()
        Interruption.watch()
        if !json { try StandardOutput.show(report.head) }
        var fault: (any Error)?
        while report.asked < count ?? .max, !Interruption.came {
            let askedAt = MonotonicClock.now()
            let reply: EchoReply
            do {
                reply = try asker.ask(peer, hopLimit: nil, patience: timeout.duration)
            } catch {
                // What came before it went away is told all the same.
                guard report.asked > 0 else { throw error }
                fault = error
                break
            }
            if reply == .noRoute, report.asked == 0 { throw asker.noRoute(to: peer) }
            if Interruption.came, reply == .silent { break }
            let line = report.line(reply)
            if !json { try StandardOutput.show(line) }
            if report.asked < count ?? .max {
                Interruption.sleep(until: askedAt + interval.duration)
            }
        }
        let took = MonotonicClock.now() - began
        let lines = json ? ["\(report.json(took: took))"] : report.summary(took: took)
        try StandardOutput.show(lines.joined(separator: "\n"))
        if let fault { throw fault }
        if report.answered == 0 { throw Failure("", .unavailable) }
    }
}

extension Span {
    func requirePatience() throws {
        guard Duration.milliseconds(10)...Duration.seconds(10) ~= duration else {
            throw ValidationError("--timeout wants 10ms to 10s")
        }
    }
}
