import ArgumentParser
import NearbyCore
import NodeShell
import Survey

struct Trace: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show each hop to a node, with times.",
        discussion: """
            A line for each node on the way: its name, what it was reached over, and the round \
            trips of three questions. `*` is a question that was not answered: by a node of an \
            older version, by one that answers others at the moment, or because it was lost.

            Exit status: as for `rivulet ping`, and 0 if --max-hops ended the trace.
            """)

    @Argument(help: "The node's name, or its PeerID or the first two groups of it.")
    var name: String
    @Option(
        name: [.long, .customShort("q")], parsing: .unconditional,
        help: "Questions for each hop, 1 to 10; otherwise 3.")
    var queries = 3
    @Option(parsing: .unconditional, help: "Links at most; otherwise 30.") var maxHops = 30
    @Option(
        parsing: .unconditional, help: "How long an answer may take, at most 10s; otherwise 1s.",
        transform: Span.parse)
    var timeout = Span(duration: .seconds(1))
    @Flag(help: "Print one JSON object in the end.") var json = false
    @OptionGroup var node: NodeSocket

    func validate() throws {
        if name.isEmpty { throw ValidationError("the name is empty: give a node's name or PeerID") }
        guard (1...10).contains(queries) else {
            throw ValidationError("--queries wants a number from 1 to 10")
        }
        guard (1...EchoReply.hopLimitMax).contains(maxHops) else {
            throw ValidationError("--max-hops wants a number from 1 to \(EchoReply.hopLimitMax)")
        }
        try timeout.requirePatience()
    }

    func run() throws {
        let asker = try Asker(node)
        let peer = try asker.peer(named: name)
        var report = TraceReport(asker.map, peer)
        Interruption.watch()
        if !json { try StandardOutput.show(report.head) }
        while report.hops.count < maxHops, !Interruption.came {
            let hop = try hop(report.hops.count + 1, toward: peer, asker)
            if hop.number == 1, hop.replies.first == .noRoute { throw asker.noRoute(to: peer) }
            let line = report.line(hop)
            if !json { try StandardOutput.show(line) }
            if report.isComplete || report.isHopeless { break }
        }
        report.isCut =
            report.hops.count >= maxHops && !report.isComplete && !report.isHopeless
        if !report.isComplete, !report.isCut, !Interruption.came,
            asker.map[peer]?.hasChannel == true
        {
            report.end = try asker.ask(peer, hopLimit: nil, patience: timeout.duration)
        }
        if let last = json ? "\(report.json)" : report.remark { try StandardOutput.show(last) }
        guard report.isComplete || report.isCut || report.end?.echo != nil else {
            throw Failure("", .unavailable)
        }
    }

    private func hop(
        _ number: Int, toward peer: PeerID, _ asker: Asker
    ) throws -> TraceReport.Hop {
        var replies: [EchoReply] = []
        while replies.count < queries, !Interruption.came {
            let reply = try asker.ask(peer, hopLimit: number, patience: timeout.duration)
            replies.append(reply)
            if reply == .noRoute { break }
        }
        return TraceReport.Hop(number: number, replies: replies)
    }
}
