import NearbyCore
import NearbyWire

@testable import NearbyEngine

extension FuzzTarget {
    /// Options 1 | { step 1 | length 1 | body }…
    static let node = FuzzTarget("node") { bytes in
        var reader = ByteReader(bytes)
        guard let options = try? reader.readUInt8() else { return }
        var node = BesetNode(Role(rawValue: options & 3) ?? .agent, hasTwoLinks: options & 4 != 0)
        while let step = try? reader.readUInt8(), let length = try? reader.readUInt8(),
            let body = try? reader.readBytes(min(Int(length), reader.remainingCount))
        {
            node.take(step, Array(body))
        }
        node.end()
    }
}

/// A whole node whose neighbours have been let in, and send what they like.
private struct BesetNode {
    private static let links = [LinkID(value: 1), LinkID(value: 2)]

    private var node: Node
    private let cryptography = OpenCryptography()
    private var now = Instant.zero + .seconds(1_000)
    private var attempt: UInt32 = 0
    private var counter: UInt64 = 0

    init(_ role: Role, hasTwoLinks: Bool) {
        let configuration = NodeConfiguration(
            name: "beset", role: role, networkTag: NetworkTag(value: 1), run: RunID(value: 1),
            seed: 1)
        node = Node(configuration, cryptography: cryptography)
        handle(.start)
        handle(.linkUp(Self.links[0], .ethernet))
        if hasTwoLinks { handle(.linkUp(Self.links[1], .wifi)) }
    }

    /// The step's lower bits say what happens, its upper ones who does it.
    mutating func take(_ step: UInt8, _ body: [UInt8]) {
        let other = step >> 4
        switch step & 15 {
        case 0, 1: datagram(body, from: other, isMulticast: step & 1 == 1)
        case 2: shakeHands(other)
        case 3: join(other, body)
        case 4..<9: seal(body, from: other, Priority(rawValue: step & 3) ?? .control)
        case 9: wait(milliseconds: Int64(body.first ?? 0) * 8)
        case 10: wait(milliseconds: Int64(body.first ?? 0) * 500)
        case 11: handle(.linkDown(Self.links[Int(other & 1)]))
        case 12: handle(.linkUp(Self.links[Int(other & 1)], .wifi))
        case 13: handle(.sendUnreliable(body, to: OpenCryptography.peer(other), .fresh))
        case 14: handle(.sendReliable(body, to: OpenCryptography.peer(other)))
        default: handle(.staticPeers([Self.endpoint(other)]))
        }
    }

    mutating func end() {
        wait(milliseconds: 500)
        handle(.stop)
    }

    private static func endpoint(_ other: UInt8) -> Endpoint {
        Endpoint(link: links[Int(other >> 3)], address: .simulated(UInt64(other)))
    }

    private mutating func datagram(_ bytes: [UInt8], from other: UInt8, isMulticast: Bool = false) {
        handle(.datagram(bytes, from: Self.endpoint(other), isMulticast: isMulticast))
    }

    /// Ours as server; its record says who it is.
    private mutating func shakeHands(_ other: UInt8) {
        attempt += 1
        let envelope = HandshakeEnvelope(
            isFromServer: false, attempt: attempt, introduction: nil, records: [22, other])
        datagram(envelope.bytes, from: other)
    }

    /// Role and what else is said at first: body.
    private mutating func join(_ other: UInt8, _ body: [UInt8]) {
        shakeHands(other)
        let first = body.first ?? 0
        let admit = AdmitFrame(
            versions: WireVersion.spoken, role: Role(rawValue: first & 3) ?? .agent,
            preference: .required, hasRoute: first & 4 != 0, neighbourCount: first >> 4,
            run: RunID(value: UInt64(first & 8)),
            proof: [UInt8](repeating: 0, count: AdmitFrame.proofByteCount), name: "n\(other)")
        seal(admit.bytes, from: other, .control)
        let invite = InviteFrame(timeout: .seconds(5), context: Array(body.dropFirst().prefix(8)))
        seal(invite.bytes, from: other, .control)
    }

    private mutating func seal(_ payload: [UInt8], from other: UInt8, _ priority: Priority) {
        guard let index = cryptography.indices[other] else { return }
        counter += 1
        var writer = ByteWriter()
        SealedHeader(priority: priority, isPlaintext: false, index: index, counter: counter)
            .emit(into: &writer)
        writer.write(contentsOf: payload)
        writer.write(contentsOf: [UInt8](repeating: 0, count: frameTagByteCount))
        datagram(writer.bytes, from: other)
    }

    private mutating func wait(milliseconds: Int64) {
        let end = now + .milliseconds(milliseconds)
        // What is due in between is done in its turn, but not for ever.
        var turns = 0
        while let next = node.nextDeadline, next <= end, turns < 12 {
            precondition(next > now || turns == 0, "it never sleeps")
            now = max(now, next)
            handle(.deadlineReached)
            turns += 1
        }
        now = max(now, end)
    }

    private mutating func handle(_ input: Node.Input) {
        node.handle(input, now: now)
        for output in node.flush(now: now) {
            switch output {
            case .transmit(.unicast(let bytes, _)), .transmit(.multicast(let bytes, _)),
                .transmit(.broadcast(let bytes, _)):
                precondition(
                    !bytes.isEmpty && bytes.count <= Limits.datagramBytesMax,
                    "a datagram of \(bytes.count) bytes")
            case .event(.message(let bytes, _, _, let hops)):
                precondition(bytes.count <= 1 << 20 && hops > 0, "\(bytes.count) B, \(hops) hops")
            case .event(.viewers(let peers)):
                precondition(peers.count <= Limits.viewersMax, "too many viewers")
            case .event: break
            }
        }
    }
}

/// Lets everybody in, and finds every frame authentic.
private final class OpenCryptography: Cryptography {
    let ownPeer = PeerID(high: 1, low: 0)
    /// Of the last channel with each of the others.
    private(set) var indices: [UInt8: UInt32] = [:]
    private var last: UInt32 = 0

    static func peer(_ other: UInt8) -> PeerID { PeerID(high: UInt64(other & 15) + 2, low: 0) }

    /// The keying material of a channel: the rest of it opens everything.
    func result(_ other: UInt8) -> HandshakeResult {
        last += 1
        indices[other & 15] = last
        var exporter = [UInt8](repeating: 0, count: HandshakeResult.exporterByteCount)
        // Both indices: whichever side is ours.
        for place in [88, 92] {
            for byte in 0..<4 {
                exporter[place + byte] = UInt8(truncatingIfNeeded: last >> UInt32(24 - 8 * byte))
            }
        }
        return HandshakeResult(peer: Self.peer(other), exporter: exporter)
    }

    func makeClient(now: Instant) -> any SecureChannel { OpenHandshake(self) }

    func listen(
        _ datagram: ArraySlice<UInt8>, from source: [UInt8], now: Instant
    ) -> ListenOutcome {
        guard datagram.count > 1, let other = datagram.last else {
            return .dropped(.handshakeMalformed)
        }
        let handshake = OpenHandshake(self)
        handshake.receive([other], now: now)
        return .accepted(handshake)
    }

    func makeCipher(key: ArraySlice<UInt8>, iv: ArraySlice<UInt8>) -> any FrameCipher {
        OpenCipher()
    }

    func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] { [UInt8](repeating: 0, count: 32) }

    func deriveKey(from secret: [UInt8], purpose: String) -> [UInt8] { hmac(key: [], []) }

    func sha256(_ message: [UInt8]) -> [UInt8] { hmac(key: [], []) }

    func randomBytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    func constantTimeEquals(
        _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
    ) -> Bool { left.elementsEqual(right) }
}

/// Finished by whatever comes; its last byte says who it is.
private final class OpenHandshake: SecureChannel {
    private let cryptography: OpenCryptography
    private(set) var state = HandshakeState.running
    private var outgoing: [[UInt8]] = [[22, 0]]
    let nextDeadline: Instant? = nil

    init(_ cryptography: OpenCryptography) { self.cryptography = cryptography }

    func receive(_ datagram: ArraySlice<UInt8>, now: Instant) {
        guard state == .running, let other = datagram.last else { return }
        state = .finished(cryptography.result(other))
    }

    func deadlineReached(now: Instant) {}

    func takeOutgoing() -> [[UInt8]] {
        defer { outgoing = [] }
        return outgoing
    }

    func takeDrops() -> DropCounters { DropCounters() }
}

private final class OpenCipher: FrameCipher {
    func seal(_ frame: inout [UInt8], headerByteCount: Int, sequence: UInt64, encrypted: Bool) {
        frame += [UInt8](repeating: 0, count: frameTagByteCount)
    }

    func open(
        _ frame: inout [UInt8], headerByteCount: Int, sequence: UInt64, encrypted: Bool
    ) -> Bool {
        guard frame.count >= headerByteCount + frameTagByteCount else { return false }
        frame.removeLast(frameTagByteCount)
        return true
    }
}
