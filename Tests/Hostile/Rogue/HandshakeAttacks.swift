import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux
import NearbyWire

/// What an outsider does with handshakes: everybody may begin one.
final class HandshakeAttacks {
    /// A handshake that was begun and is waiting for its cookie.
    private struct Begun {
        var handshake: any SecureChannel
        var socket: Int
    }

    private let shell: Shell
    private let target: Endpoint
    private let sockets: [SourceSocket]
    private let cryptography = OpenSSLCryptography(identity: .makeEphemeral())
    private var begun: [UInt32: Begun] = [:]
    private var order: [UInt32] = []
    private var sentByteCount = 0
    private var acceptedCount = 0
    /// Whether a handshake goes on behind its cookie.
    private var goesOn = false
    private var onCookie: ((UInt32, [UInt8], Int) -> Void)?

    private init(_ options: Options) throws {
        shell = try Shell()
        target = try options.target()
        sockets = try options.sources().map { source throws(RogueError) in
            try SourceSocket(from: source)
        }
        for (index, socket) in sockets.enumerated() {
            try shell.loop.register(socket.descriptor) { [unowned self] _ in
                for _ in 0..<64 {
                    guard let bytes = socket.receive() else { break }
                    received(bytes, on: index)
                }
            }
        }
    }

    /// Handshakes that prove their address and then fall silent, `rate=` bytes a second from the
    /// addresses in `from=`. With `until=keys` they go on to the end, and no admission follows.
    static func flood(_ options: Options) throws {
        let attack = try HandshakeAttacks(options)
        attack.goesOn = options.text("until", or: "cookie") == "keys"
        attack.onCookie = { [unowned attack] _, flight, socket in attack.send(flight, socket) }
        var turn = 0
        var counted = 0
        attack.shell.flood(bytesPerSecond: try options.rate()) { [unowned attack] now in
            turn += 1
            attack.begin(on: turn % attack.sockets.count, now)
            // With the flights that followed since the last time.
            defer { counted = attack.sentByteCount }
            return attack.sentByteCount - counted
        }
        try attack.shell.run(for: try options.duration())
        say("sent \(attack.sentByteCount) bytes, \(attack.acceptedCount) answers answered")
    }

    /// One hello that no server can agree to, `rate=` bytes a second: each begins a handshake that
    /// fails at once.
    static func refusals(_ options: Options) throws {
        let attack = try HandshakeAttacks(options)
        let rate = try options.rate()
        var hello: [UInt8]?
        attack.onCookie = { [unowned attack] _, bytes, socket in
            guard hello == nil else { return }
            let impossible = withoutKnownSuites(bytes)
            hello = impossible
            attack.shell.flood(bytesPerSecond: rate) { [unowned attack] _ in
                attack.send(impossible, socket)
                return impossible.count
            }
        }
        attack.begin(on: 0, MonotonicClock.now())
        try attack.shell.run(for: try options.duration())
        guard hello != nil else { throw RogueError("no cookie came") }
        say("sent \(attack.sentByteCount) bytes")
    }

    private func begin(on socket: Int, _ now: Instant) {
        let attempt = UInt32.random(in: 1...UInt32.max)
        let handshake = cryptography.makeClient(now: now)
        begun[attempt] = Begun(handshake: handshake, socket: socket)
        order.append(attempt)
        if order.count > 1_000 { begun[order.removeFirst()] = nil }
        for records in handshake.takeOutgoing() { send(envelope(records, attempt), socket) }
    }

    private func received(_ bytes: [UInt8], on socket: Int) {
        guard let answer = try? HandshakeEnvelope(parsing: bytes[...]), answer.isFromServer,
            let one = begun[answer.attempt]
        else { return }
        if !goesOn { begun[answer.attempt] = nil }
        one.handshake.receive(answer.records, now: MonotonicClock.now())
        for records in one.handshake.takeOutgoing() {
            acceptedCount += 1
            onCookie?(answer.attempt, envelope(records, answer.attempt), socket)
        }
    }

    private func send(_ bytes: [UInt8], _ socket: Int) {
        sentByteCount += bytes.count
        sockets[socket].send(bytes, to: target.address)
    }

    private func envelope(_ records: [UInt8], _ attempt: UInt32) -> [UInt8] {
        HandshakeEnvelope(
            isFromServer: false, attempt: attempt,
            introduction: .init(
                peer: PeerID(high: randomNumber(), low: randomNumber()),
                run: RunID(value: randomNumber()), attempt: 1),
            records: records[...]
        ).bytes
    }

    /// The same ClientHello with cipher suites that nobody has. It lies behind the envelope, the
    /// record's head (13), the message's (12), version (2) and random (32).
    private static func withoutKnownSuites(_ datagram: [UInt8]) -> [UInt8] {
        var bytes = datagram
        var position = HandshakeEnvelope.overheadByteCount + 13 + 12 + 2 + 32
        for _ in 0..<2 where position < bytes.count {
            // The session's id, and the cookie.
            position += 1 + Int(bytes[position])
        }
        guard position + 2 < bytes.count else { return bytes }
        let count = Int(bytes[position]) << 8 | Int(bytes[position + 1])
        guard position + 2 + count <= bytes.count else { return bytes }
        for index in position + 2..<position + 2 + count { bytes[index] = 0xfa }
        return bytes
    }
}
