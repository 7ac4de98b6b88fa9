import Glibc
import NearbyCore
import NearbyLinux
import Testing

@Suite struct ControlSocketTests {
    @Test func aRequestGetsItsLinesBack() throws {
        let agent = try Agent("lines") { _, line in
            line == "status" ? .lines(["peers 3", "", ".hidden", "..", "a\nb"]) : .lines([])
        }
        let replies = try agent.serve { path in
            let client = try ControlClient(path: path)
            return [
                try client.request("status"), try client.request("other"), try client.request(""),
            ]
        }
        #expect(replies == [["peers 3", "", ".hidden", "..", "a", "b"], [], []])
    }

    @Test func aLongReplyArrivesWhole() throws {
        let lines = (0..<20_000).map { "peer \($0) is well and its line is of some length" }
        let long = Array(lines.prefix(10_000))
        let agent = try Agent("long") { _, _ in .lines(long) }
        let reply = try agent.serve { try ControlClient(path: $0).request("peers") }
        #expect(reply == long)
    }

    @Test func noAgentIsSaidPlainly() throws {
        let path = temporaryPath("nobody")
        do {
            _ = try ControlClient(path: path)
            Issue.record("connected to nobody")
        } catch {
            #expect(error == .noAgent(path: path))
            #expect("\(error)".hasPrefix("no node answers at \(path): is rivulet-agent or"))
        }
    }

    @Test func whatIsNoSocketIsCalledThat() {
        for path in ["/etc/hostname", "/tmp"] {
            #expect(throws: ControlError.noSocket(path: path)) { try ControlClient(path: path) }
        }
    }

    @Test func aPathLeftBehindIsTakenOverAndAServedOneIsNot() throws {
        let path = temporaryPath("stale")
        let loop = try EventLoop()
        let raw = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try bindUnix(raw, path)
        close(raw)
        #expect(throws: ControlError.noAgent(path: path)) { try ControlClient(path: path) }
        let first = try ControlSocket(path: path, loop: loop) { _, _ in .lines([]) }
        #expect(throws: ControlError.alreadyServed(path: path)) {
            try ControlSocket(path: path, loop: loop) { _, _ in .lines([]) }
        }
        first.close()
        #expect(access(path, F_OK) != 0)
    }

    @Test func aFileInTheWayIsNotRemoved() throws {
        let path = temporaryPath("file")
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        defer { unlink(path) }
        #expect(throws: ControlError.notASocket(path: path)) {
            try ControlSocket(path: path, loop: try EventLoop()) { _, _ in .lines([]) }
        }
        #expect(access(path, F_OK) == 0)
    }

    @Test(arguments: [(UInt32?.none, UInt32(0o600)), (UInt32?.some(getgid()), UInt32(0o660))])
    func thePathIsForItsOwnerOrItsGroup(group: UInt32?, mode: UInt32) throws {
        let path = temporaryPath("mode-\(mode)")
        let socket = try ControlSocket(path: path, group: group, loop: try EventLoop()) { _, _ in
            .lines([])
        }
        defer { socket.close() }
        var status = stat()
        lstat(path, &status)
        #expect(status.st_mode & 0o777 == mode)
    }

    @Test func pathsThatCannotBeAreRefused() throws {
        let long = "/tmp/" + String(repeating: "x", count: 200)
        #expect(throws: ControlError.badPath(long)) {
            try ControlSocket(path: long, loop: try EventLoop()) { _, _ in .lines([]) }
        }
        #expect(throws: ControlError.badPath(long)) { try ControlClient(path: long) }
    }

    @Test func theNinthClientIsRefusedAndCounted() throws {
        let agent = try Agent("ninth") { _, _ in .lines(["ok"]) }
        let replies = try agent.serve { path in
            let clients = try (0...Limits.controlClientsMax).map { _ in
                try ControlClient(path: path)
            }
            return try clients.map { try $0.request("x") }
        }
        #expect(replies.dropLast().allSatisfy { $0 == ["ok"] })
        #expect(replies.last == ["error: the agent has too many clients"])
        #expect(agent.socket.drops[.controlClientRefused] == 1)
    }

    @Test func anOpenReplyGoesOnUntilItIsFinished() throws {
        let agent = try Agent("open") { _, _ in .open(["first"]) }
        var count = 0
        let timer = agent.loop.addTimer { _ in }
        let ticker = agent.loop.addTimer { [unowned agent] now in
            guard let client = agent.lastClient else { return agent.tick(now) }
            count += 1
            agent.socket.send("change \(count)", to: client)
            if count == 3 { agent.socket.finish(client) } else { agent.tick(now) }
        }
        agent.ticker = ticker
        agent.loop.set(timer, to: nil)
        agent.tick(.zero)
        let lines = try agent.serve { path in
            var lines: [String] = []
            try ControlClient(path: path).follow("changes", timeout: .seconds(5)) {
                lines.append($0)
                return true
            }
            return lines
        }
        #expect(lines == ["first", "change 1", "change 2", "change 3"])
    }

    @Test func aReplyThatIsFinishedWithinTheHandlerIsWhole() throws {
        let agent = try Agent("within") { _, line in .lines([line]) }
        agent.onRequest = { [unowned agent] client, line in
            agent.socket.send("before", to: client)
            agent.socket.finish(client)
            return .open(["too late"])
        }
        let replies = try agent.serve { path in
            let client = try ControlClient(path: path)
            return [try client.request("a"), try client.request("b")]
        }
        #expect(replies == [["before"], ["before"]])
    }

    @Test func aClientThatDoesNotReadIsDroppedAndCounted() throws {
        let line = String(repeating: "x", count: 1_000)
        let agent = try Agent("slow") { _, _ in .open([]) }
        let ticker = agent.loop.addTimer { [unowned agent] now in
            guard let client = agent.lastClient else { return agent.tick(now) }
            while agent.socket.send(line, to: client) {}
        }
        agent.ticker = ticker
        agent.tick(.zero)
        let isBrokenOff = try agent.serve { path in
            let client = try ControlClient(path: path)
            do {
                try client.follow("changes", timeout: .seconds(10)) { _ in
                    usleep(100)
                    return true
                }
            } catch ControlError.connectionClosed { return true }
            return false
        }
        #expect(isBrokenOff)
        #expect(agent.socket.drops[.controlClientSlow] == 1)
    }

    @Test func aRequestThatIsTooLongIsRefused() throws {
        let agent = try Agent("request") { _, _ in .lines(["ok"]) }
        let replies = try agent.serve { path in
            let limit = Limits.controlRequestBytesMax
            return try [limit, limit + 1, 100_000].map { count in
                try ControlClient(path: path).request(String(repeating: "x", count: count))
            }
        }
        #expect(replies[0] == ["ok"])
        #expect(replies[1] == ["error: a request has at most 1024 bytes"])
        #expect(replies[2].isEmpty || replies[2] == replies[1])
        #expect(agent.socket.drops[.controlRequestTooLong] == 2)
    }

    @Test func requestsInOnePieceAndAClosedInputAreAnswered() throws {
        let agent = try Agent("netcat") { _, line in .lines([line]) }
        let text = try agent.serve { path in
            let raw = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(raw) }
            try connectUnix(raw, path)
            let bytes = Array("one\r\ntwo\nincomplete".utf8)
            _ = write(raw, bytes, bytes.count)
            shutdown(raw, Int32(SHUT_WR))
            var all: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 64)
            while case let count = read(raw, &piece, piece.count), count > 0 {
                all += piece.prefix(count)
            }
            return String(decoding: all, as: UTF8.self)
        }
        #expect(text == "one\n.\ntwo\n.\n")
    }

    @Test func anAgentThatDoesNotAnswerIsATimeOut() throws {
        let path = temporaryPath("silent")
        let socket = try ControlSocket(path: path, loop: try EventLoop()) { _, _ in .lines([]) }
        defer { socket.close() }
        let limit = Duration.milliseconds(20)
        let client = try ControlClient(path: path)
        #expect(throws: ControlError.timedOut(path: path, limit)) {
            try client.request("status", timeout: limit)
        }
    }
}

/// A control socket with its loop. The client of a test runs on another thread meanwhile.
private final class Agent {
    let loop: EventLoop
    let path: String
    private(set) var socket: ControlSocket! = nil
    private(set) var lastClient: ControlSocket.ClientID?
    var onRequest: (ControlSocket.ClientID, String) -> ControlSocket.Reply
    var ticker: EventLoop.TimerID?

    init(
        _ name: String, onRequest: @escaping (ControlSocket.ClientID, String) -> ControlSocket.Reply
    ) throws {
        loop = try EventLoop()
        path = temporaryPath(name)
        self.onRequest = onRequest
        socket = try ControlSocket(path: path, loop: loop) { [unowned self] client, line in
            lastClient = client
            return self.onRequest(client, line)
        }
    }

    deinit { socket?.close() }

    func tick(_ now: Instant) {
        if let ticker { loop.set(ticker, to: now + .milliseconds(1)) }
    }

    /// Runs the loop until `client` on its own thread is done.
    func serve<Value>(_ client: @escaping (String) throws -> Value) throws -> Value {
        let done = try Mailbox<Bool>()
        try loop.register(done) { [loop] _ in loop.stop() }
        defer { loop.unregister(done.descriptor) }
        let thread = Thread { [path] in
            defer { _ = done.post(true) }
            return try client(path)
        }
        try loop.run(until: MonotonicClock.now() + .seconds(30))
        return try thread.join()
    }
}

private func withUnixAddress(
    _ path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) throws {
    var form = sockaddr_un()
    form.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &form.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: form) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    if result != 0 { throw SystemError(call: path, code: errno) }
}

private func bindUnix(_ raw: Int32, _ path: String) throws {
    try withUnixAddress(path) { bind(raw, $0, $1) }
}

private func connectUnix(_ raw: Int32, _ path: String) throws {
    try withUnixAddress(path) { connect(raw, $0, $1) }
}
