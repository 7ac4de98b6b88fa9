import Glibc
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux
import NearbyWire

/// What can be done with frames outside of every channel.
enum DiscoveryAttacks {
    /// Writes the first beacon of each run that is heard on `interface=` to standard output, until
    /// `count=` were heard: `PEER RUN HEX`. Whoever can hear can do this.
    static func capture(_ options: Options) throws {
        guard let link = try options.link() else { throw RogueError("interface= is missing") }
        let loop = try EventLoop()
        let socket = try BeaconSocket()
        socket.join(link)
        let wanted = Int(try options.number("count", or: 1))
        let peer = options.text("peer", or: "")
        var heard: Set<String> = []
        for descriptor in socket.descriptors {
            try loop.register(descriptor) { _ in
                socket.receive { datagram in
                    guard let frame = try? DiscoveryFrame(parsing: datagram.bytes[...]),
                        case .beacon = frame.body, peer.isEmpty || "\(frame.peer)" == peer,
                        heard.insert("\(frame.peer) \(frame.run)").inserted
                    else { return }
                    say("\(frame.peer) \(frame.run) \(hexadecimal(datagram.bytes))")
                    if heard.count >= wanted { loop.stop() }
                }
            }
        }
        try loop.run(until: MonotonicClock.now() + (try options.duration()))
        guard heard.count >= wanted else { throw RogueError("only \(heard.count) runs were heard") }
    }

    /// Multicasts what `capture` wrote to `file=`, one after the other, every `pause=`
    /// milliseconds, from the address in `from=`, which may be somebody else's.
    static func replay(_ options: Options) throws {
        guard let link = try options.link() else { throw RogueError("interface= is missing") }
        let beacons = try lines(of: try options.text("file")).compactMap { line in
            line.split(separator: " ").last.flatMap { bytes(hexadecimal: $0) }
        }
        guard !beacons.isEmpty else { throw RogueError("file= holds no beacons") }
        let shell = try Shell()
        let sockets = try options.sources().map { try SourceSocket(from: $0) }
        for socket in sockets { socket.choose(link) }
        let pause = max(10, try options.number("pause", or: 200))
        var turn = 0
        shell.every(.milliseconds(pause)) { _ in
            sockets[turn % sockets.count].send(beacons[turn % beacons.count], to: BeaconGroups.ipv4)
            turn += 1
        }
        try shell.run(for: try options.duration())
        say("\(turn) beacons")
    }

    /// What looks like sealed frames of channels that nobody has, `rate=` bytes a second, from 64
    /// ports of the address in `from=`.
    static func garbage(_ options: Options) throws {
        let shell = try Shell()
        let target = try options.target()
        let source = try options.text("from")
        let sockets = try (0..<64).map { _ in try SourceSocket(from: source) }
        let payload = [UInt8](repeating: 0xa5, count: 30)
        var generator = SystemRandomNumberGenerator()
        var turn = 0
        shell.flood(bytesPerSecond: try options.rate()) { _ in
            var writer = ByteWriter(reserving: 40)
            SealedHeader(
                priority: .fresh, isPlaintext: false, index: generator.next(), counter: 1
            ).emit(into: &writer)
            writer.write(contentsOf: payload)
            sockets[turn % sockets.count].send(writer.bytes, to: target.address)
            turn += 1
            return writer.count
        }
        try shell.run(for: try options.duration())
        say("\(turn) frames")
    }

    /// Nudges of nodes that do not exist, proved with the network's secret.
    static func nudges(_ options: Options) throws {
        let shell = try Shell()
        let target = try options.target()
        let network = try Network(options)
        let cryptography = OpenSSLCryptography(identity: .makeEphemeral())
        shell.flood(bytesPerSecond: try options.rate()) { _ in
            let frame = DiscoveryFrame(
                versions: WireVersion.spoken, network: network.tag,
                peer: PeerID(high: randomNumber(), low: randomNumber()),
                run: RunID(value: randomNumber()), body: .nudge(attempt: 1))
            let bytes = network.proved(frame, cryptography)
            shell.send(bytes, to: target)
            return bytes.count
        }
        try shell.run(for: try options.duration())
        say("sent \(shell.sentByteCount) bytes")
    }

    /// No attack: makes an identity in `state=` whose PeerID lies in the `low` or `high` half, so
    /// that a case knows who invites whom.
    static func identity(_ options: Options) throws {
        let state = try options.text("state")
        let isLow = try options.text("half") == "low"
        for _ in 0..<100 {
            let peer = try NodeIdentity.load(stateDirectory: state, rule: .makeNew).peer
            if (peer.high >> 63 == 0) == isLow { return }
            unlink("\(state)/identity.pem")
        }
        throw RogueError("a hundred PeerIDs in the other half")
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(hexadecimal text: Substring) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    private static func lines(of path: String) throws -> [Substring] {
        guard let file = fopen(path, "r") else { throw RogueError("file=\(path): errno \(errno)") }
        defer { fclose(file) }
        var text: [UInt8] = []
        while text.count < 1 << 20 {
            let byte = getc(file)
            guard byte != EOF else { break }
            text.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n")
    }
}
