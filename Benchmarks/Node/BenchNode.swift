import Configuration
import NearbyCore
import NearbyEngine
import NearbyLinux
import NodeShell

/// A node for measurements, with sockets and a loop of its own, that hands on what happens to it.
package final class BenchNode: NodeOwner {
    package private(set) var node: Node
    private let program: NodeProgram
    package var onEvent: (Node.Event, Instant) -> Void = { _, _ in }

    package init(_ settings: Settings, role: Role) throws(StartError) {
        program = try NodeProgram(settings, role: role, log: StandardErrorLog(threshold: .warning))
        node = program.runner.makeNode()
        program.runner.owner = self
    }

    package var loop: EventLoop { program.loop }

    /// Until then, or until the loop is stopped.
    package func serve(for limit: Duration) throws(StartError) {
        try program.serve(until: MonotonicClock.now() + limit)
    }

    package var nextDeadline: Instant? { node.nextDeadline }

    package func deadlineReached(now: Instant) { handle([.deadlineReached], now: now) }

    package func handle(_ inputs: [Node.Input], now: Instant) {
        for input in inputs { node.handle(input, now: now) }
        for output in node.flush(now: now) {
            switch output {
            case .transmit(let transmission): program.runner.carryOut(transmission, now)
            case .event(let event):
                program.runner.record(event, now)
                onEvent(event, now)
            }
        }
        program.runner.settled(now)
    }
}
