import Configuration
import NearbyCore
import NearbyEngine
import NearbyLinux

/// What a program's control socket answers. An echo is answered when its outcome is there, or its
/// time is over.
final class ControlService {
    private struct Waiting {
        var token: UInt64
        var client: ControlSocket.ClientID
        var until: Instant
    }

    private var socket: ControlSocket?
    /// Clients that wait for an echo.
    private var waiting: [Waiting] = []
    private var timer: EventLoop.TimerID?
    /// Answers what a program around the node adds to the requests; nil: it is none of those.
    var onRequest: ((String) -> [String]?)?

    /// Without its control socket a node still does its work. Where it may not make the one that is
    /// configured, it makes one in its state directory.
    func open(for program: NodeProgram) {
        let (settings, log) = (program.settings, program.log)
        guard !settings.keepsNothing else { return }
        let fallback = Settings.fallbackControl(state: settings.state)
        do throws(ControlError) {
            try open(settings.control, program)
        } catch {
            log.write(.warning, "\(error)")
            guard error.concernsItsPlace, fallback != settings.control else { return }
            do throws(ControlError) {
                try open(fallback, program)
                log.write(
                    .diagnostic,
                    "the control socket is \(fallback): `rivulet status` finds it through the "
                        + "configuration, or with --socket \(fallback)")
            } catch {
                log.write(.warning, "\(error): `rivulet status` cannot ask this node")
            }
        }
    }

    private func open(_ path: String, _ program: NodeProgram) throws(ControlError) {
        let group = ServiceFolders().group(of: path)
        socket = try ControlSocket(path: path, group: group, loop: program.loop) {
            [unowned self, unowned program] client, line in
            program.log.write(.debug, "asked for \(line.prefix { $0 != " " })")
            return answer(line, to: client, program)
        }
    }

    func close() { socket?.close() }

    /// Ends the reply to who asked for an echo.
    func record(_ event: Node.Event) {
        guard case .echo(let answer, let node, let hops, let time) = event else { return }
        let words = [
            "answered", time.nanoseconds.description, hops.description,
            answer.link?.word ?? "-", PeerID(high: node.value, low: 0).shortText, answer.name,
        ]
        finish(answer.token, with: words.joined(separator: " "))
    }

    private func answer(
        _ request: String, to client: ControlSocket.ClientID, _ program: NodeProgram
    ) -> ControlSocket.Reply {
        let words = request.split(separator: " ", maxSplits: 1).map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("status", nil): return .lines([NodeStatus(program).json.description])
        case ("health", nil): return .lines([program.health])
        case ("summary", nil): return .lines(NodeSummary(program).lines(isVerbose: false))
        case ("summary", "verbose"): return .lines(NodeSummary(program).lines(isVerbose: true))
        case ("near", nil): return .lines([NodeSightings(program).json.description])
        case ("echo", let words?): return echo(words, to: client, program)
        case ("ticket", let seconds?): return .lines([program.issueTicket(validFor: seconds)])
        case ("connect", let ticket?): return .lines([program.redeem(ticket: ticket)])
        case ("connected", let peer?): return .lines([program.nameIfConnected(peer)])
        default:
            if let lines = onRequest?(request) { return .lines(lines) }
            return .lines([
                "unknown request; there are status, summary, health, near, echo, ticket, connect, "
                    + "connected"
            ])
        }
    }

    // MARK: Echoes

    /// `PEERID HOPS MILLISECONDS`: whom to ask, after how many links on the way to it (0: the peer
    /// itself, over its channel if there is one), and how long to wait. The answer is one of
    ///
    ///     answered nanoseconds hops link|- first-digits-of-the-PeerID name
    ///     silent
    ///     no-route
    ///
    /// The name is the rest of the line, as the node says it.
    private func echo(
        _ text: String, to client: ControlSocket.ClientID, _ program: NodeProgram
    ) -> ControlSocket.Reply {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 3, waiting.count < Limits.echoClientsMax,
            let peer = PeerID(text: words[0]), let hops = UInt64(words[1]), hops <= 64,
            let milliseconds = UInt64(words[2]), 1...Limits.echoTimeoutMax ~= milliseconds
        else { return .lines(["error echo PEERID HOPS MILLISECONDS, and not too many at a time"]) }
        let node = program.runner.node
        guard node.routes.contains(where: { $0.destination == peer }) else {
            return .lines(["no-route"])
        }
        let now = MonotonicClock.now()
        let token = systemRandom()
        let limit = hops == 0 ? nil : UInt8(truncatingIfNeeded: hops)
        let timeout = Duration.milliseconds(Int64(milliseconds))
        waiting.append(Waiting(token: token, client: client, until: now + timeout))
        let timer =
            timer
            ?? program.loop.addTimer { [unowned self, unowned program] in
                expire($0, program)
            }
        self.timer = timer
        wake(program)
        program.runner.handle(.echo(token: token, to: peer, hopLimit: limit), at: now)
        return .open([])
    }

    private func expire(_ now: Instant, _ program: NodeProgram) {
        for waiting in waiting where waiting.until <= now { finish(waiting.token, with: "silent") }
        wake(program)
    }

    private func wake(_ program: NodeProgram) {
        guard let timer else { return }
        program.loop.set(timer, to: waiting.map(\.until).min())
    }

    private func finish(_ token: UInt64, with line: String) {
        guard let index = waiting.firstIndex(where: { $0.token == token }) else { return }
        let client = waiting.remove(at: index).client
        socket?.send(line, to: client)
        socket?.finish(client)
    }
}

extension Limits {
    /// Echoes that clients of the control socket wait for at a time.
    static let echoClientsMax = 64
    /// How long one may wait, milliseconds.
    static let echoTimeoutMax: UInt64 = 10_000
}
