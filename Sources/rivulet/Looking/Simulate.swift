import ArgumentParser
import Configuration
import Glibc
import NearbySimulator
import NodeShell
import Survey

struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try a site that does not exist yet: how its nodes would get on.",
        discussion: """
            The nodes' own code runs, as many times as there are nodes, on a simulated network \
            and clock: all get power within a second, find each other, and send messages to \
            their collector; then some die. What is promised of them stands beside what came out. \
            Radios follow a plain model (deploy/simulate.md), not your walls. The same options \
            and the same seed give the same result.

            Exit status: 0, also if a promise was not kept; 64 for a wrong command line; 70 if \
            something happened that never must, which is a fault of Rivulet's; 73 if there is no \
            folder for the picture.
            """)

    @Option(parsing: .unconditional, help: "How many nodes, with the collectors; at most 10000.")
    var nodes = 100
    @Option(
        help: "line, ring, grid, random (radios scattered over a square), lan or sites.",
        transform: Self.shape)
    var topology = SiteShape.random
    @Option(parsing: .unconditional, help: "How many of them are collectors.")
    var collectors = 1
    @Option(
        parsing: .unconditional,
        help: """
            Percent of datagrams lost on each link (a whole number), besides those lost to distance.
            """)
    var loss = 0
    @Option(parsing: .unconditional, help: "Percent of the nodes that are heard less far.")
    var weak = 0
    @Option(parsing: .unconditional, help: "Percent of the agents that walk about.")
    var moving = 0
    @Option(
        parsing: .unconditional,
        help: "Percent of the agents that are without power 40 s of each minute.")
    var sleeping = 0
    @Option(
        parsing: .unconditional, help: "Between two messages of an agent; otherwise 1s.",
        transform: Span.parse)
    var every = Span(duration: .seconds(1))
    @Option(parsing: .unconditional, help: "Another number is another run of chance.")
    var seed: UInt64 = 1
    @Option(help: "Draw who reaches the first collector over whom, to this file.")
    var svg: String?
    @Flag(help: "Print the tree of all nodes; otherwise of at most 60.") var tree = false

    private static func shape(_ text: String) throws -> SiteShape {
        guard let shape = SiteShape(rawValue: text) else {
            let names = SiteShape.allCases.map(\.rawValue)
            throw ValidationError(
                "there is no topology \(PlainText.shown(text)); it is "
                    + names.dropLast().joined(separator: ", ") + " or \(names[names.count - 1])")
        }
        return shape
    }

    private var plan: SitePlan {
        var plan = SitePlan()
        plan.nodes = nodes
        plan.shape = topology
        plan.collectors = collectors
        plan.lossPercent = loss
        plan.weakPercent = weak
        plan.movingPercent = moving
        plan.sleepingPercent = sleeping
        plan.interval = every.duration
        plan.seed = seed
        return plan
    }

    func validate() throws {
        guard Duration.milliseconds(100)...Duration.seconds(60) ~= every.duration else {
            throw ValidationError("--every wants 100ms to 1min")
        }
        if let fault = plan.fault { throw ValidationError("\(fault)") }
    }

    func run() throws {
        if let svg { try ShowTopology.requireFolder(of: svg) }
        let run = SiteRun(plan, checksRoutes: nodes <= Self.checkedMax)
        let report = run.run {
            print(SiteReport.line($0))
            // Who has piped it elsewhere sees each line when it is known, too.
            fflush(nil)
        }
        if let memory = Self.residentBytes {
            let share = memory / nodes / 1_000
            print("memory            \(memory / 1_000_000) MB for all, \(share) kB a node")
        }
        let topology = Topology(run)
        if let svg { try ShowTopology.write(TopologyPicture(topology).text, to: svg) }
        let lines = topology.lines.dropFirst(2)
        print("")
        lines.prefix(tree ? lines.count : Self.linesMax).forEach { print($0) }
        if !tree, lines.count > Self.linesMax {
            let more = lines.count - Self.linesMax
            print("… and \(more) more (--tree prints them, --svg draws them)")
        }
        guard let failure = report.failures.first else { return }
        throw Failure("what must never happen: \(failure); seed \(seed)", .software)
    }

    /// Beyond, following every route after every step takes longer than the nodes themselves.
    private static let checkedMax = 2_000
    private static let linesMax = 61

    /// What this process holds of memory.
    private static var residentBytes: Int? {
        guard let file = fopen("/proc/self/statm", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let words = line.map { UInt8(bitPattern: $0) }.split(separator: UInt8(ascii: " "))
        guard words.count > 1, let pages = Int(String(decoding: words[1], as: UTF8.self)) else {
            return nil
        }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
