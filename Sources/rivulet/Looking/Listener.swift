import Configuration
import NearbyCore
import NearbyEngine
import NearbyLinux
import NearbyWire
import NodeShell

/// A node that only listens, for `rivulet browse` where none runs: it hears beacons, and asks who
/// sends them for their discovery info. Nothing else of what it would say leaves, so nobody learns
/// of it, and nobody connects to it.
final class Listener: NodeOwner {
    private let program: NodeProgram
    private(set) var node: Node
    private var outputs = OutputTurns<Node.Output>()
    private var timer: EventLoop.TimerID?
    private var fault: (any Error)?

    init(_ settings: Settings) throws(StartError) {
        var settings = settings.lookingIn
        // What is remembered or configured is for those who want to connect.
        settings.udp.peers = []
        program = try NodeProgram(
            settings, role: .viewer, log: StandardErrorLog(threshold: .warning))
        node = program.runner.makeNode()
        program.runner.owner = self
    }

    /// Hands over who is near, once a second, until Ctrl-C, or the end of this time.
    func run(for limit: Duration?, _ show: @escaping (String) throws -> Void) throws {
        let timer = program.loop.addTimer { [unowned self] now in tick(now, show) }
        self.timer = timer
        let now = MonotonicClock.now()
        program.loop.set(timer, to: now)
        try program.serve(until: limit.map { now + $0 } ?? .distantFuture)
        if let fault { throw fault }
        try show(near)
    }

    private var near: String { NodeSightings(program).json.description }

    private func tick(_ now: Instant, _ show: (String) throws -> Void) {
        do {
            try show(near)
            if let timer { program.loop.set(timer, to: now + .seconds(1)) }
        } catch {
            fault = error
            program.loop.stop()
        }
    }

    // MARK: The node

    var nextDeadline: Instant? { node.nextDeadline }

    func handle(_ inputs: [Node.Input], now: Instant) {
        for input in inputs { node.handle(input, now: now) }
        carryOut(now)
    }

    func deadlineReached(now: Instant) {
        node.handle(.deadlineReached, now: now)
        carryOut(now)
    }

    private func carryOut(_ now: Instant) {
        guard outputs.begin(with: node.flush(now: now)) else { return }
        while let output = outputs.next() {
            if case .transmit(.unicast(let bytes, let endpoint)) = output, Self.isQuestion(bytes) {
                program.runner.carryOut(.unicast(bytes, to: endpoint), now)
            }
        }
        program.runner.settled(now)
    }

    private static func isQuestion(_ bytes: [UInt8]) -> Bool {
        guard let frame = try? DiscoveryFrame(parsing: bytes[...]) else { return false }
        if case .infoRequest = frame.body { return true }
        return false
    }
}
