import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyWire

/// A channel that the rogue opened with a node, on a link or through the mesh: it shakes hands, is
/// admitted with the network's secret, says that it is alive, and then sends whatever it likes.
final class RogueChannel {
    enum Stage: Equatable {
        case idle
        case handshaking
        case admitting
        case inviting
        case open
        case refused
    }

    let identity: OpenSSLCryptography
    /// The run that it names; of agents also that of their readings.
    let run = RunID(value: randomNumber())
    private(set) var stage = Stage.idle
    /// Whom it reached, and what that said of itself.
    private(set) var peer: PeerID?
    private(set) var terms: AdmitFrame?

    var onOpen: ((Instant) -> Void)?
    var onMessage: (([UInt8], Instant) -> Void)?
    var onPacket: ((MeshPacket, Instant) -> Void)?

    private let network: Network
    private let role: Role
    private let name: String
    private let isOnLink: Bool
    private let transmit: ([UInt8]) -> Void
    private let attempt = UInt32.random(in: 1...UInt32.max)
    private var handshake: (any SecureChannel)?
    private var seal: RogueSeal?
    private var session = SessionMachine()
    private var reliableCount: UInt64 = 0
    private var routingNumber = UInt32.random(in: 1...1 << 30)
    private var lastRepeat = Instant.zero
    private var lastHello = Instant.zero

    /// - Parameter transmit: one datagram on its way to the node.
    init(
        _ network: Network, as identity: NodeIdentity = .makeEphemeral(), role: Role,
        name: String = "rogue", isOnLink: Bool = true, transmit: @escaping ([UInt8]) -> Void
    ) {
        self.identity = OpenSSLCryptography(identity: identity)
        self.network = network
        self.role = role
        self.name = name
        self.isOnLink = isOnLink
        self.transmit = transmit
    }

    func begin(_ now: Instant) {
        handshake = identity.makeClient(now: now)
        stage = .handshaking
        drive(now)
    }

    // MARK: What comes

    /// Returns whether the datagram was of this channel.
    @discardableResult
    func receive(_ datagram: [UInt8], _ now: Instant) -> Bool {
        switch datagram.first.map(DatagramKind.init(firstByte:)) {
        case .handshake:
            guard let envelope = try? HandshakeEnvelope(parsing: datagram[...]),
                envelope.isFromServer, envelope.attempt == attempt
            else { return false }
            handshake?.receive(envelope.records, now: now)
            drive(now)
            return true
        case .sealed:
            guard let payload = seal?.open(datagram) else { return false }
            receive(frame: payload, now)
            return true
        default: return false
        }
    }

    private func drive(_ now: Instant) {
        guard let handshake else { return }
        for records in handshake.takeOutgoing() {
            let envelope = HandshakeEnvelope(
                isFromServer: false, attempt: attempt,
                introduction: .init(peer: identity.ownPeer, run: run, attempt: 1),
                records: records[...])
            transmit(envelope.bytes)
        }
        switch handshake.state {
        case .running: break
        case .failed: stage = .refused
        case .finished(let result) where stage == .handshaking:
            peer = result.peer
            seal = RogueSeal(result.exporter, identity)
            stage = .admitting
            repeatUnanswered(now)
        case .finished: break
        }
    }

    private func receive(frame: ArraySlice<UInt8>, _ now: Instant) {
        guard let frame = try? Frame(parsing: frame) else { return }
        switch frame {
        case .channel(let frame): receive(frame, now)
        case .hop(let frame): receive(frame, now)
        case .endToEnd(let frame):
            // The server's first word after a decision that was lost.
            if stage == .inviting { opened(now) }
            answerData()
            perform(session.handle(.received(frame), now: now), now)
        }
    }

    private func receive(_ frame: ChannelFrame, _ now: Instant) {
        switch frame {
        case .admit(let frame):
            guard stage == .admitting else { return }
            terms = frame
            stage = .inviting
            repeatUnanswered(now)
        case .decision(let frame):
            frame.verdict == .accepted ? opened(now) : (stage = .refused)
        case .close: stage = .refused
        case .path(let frame) where !frame.isResponse:
            send(PathFrame(isResponse: true, token: frame.token).bytes)
        case .invite, .path: break
        }
    }

    private func receive(_ frame: HopFrame, _ now: Instant) {
        switch frame {
        case .bundle(let bundle): for frame in bundle.frames { receive(frame: frame, now) }
        case .liveness(.probe): send(LivenessFrame.answer.bytes)
        case .routing(let message) where message.number != 0:
            let answer = RoutingMessage(number: 0, acknowledged: message.number, items: [])
            send(answer.bytes)
        case .packet(let packet):
            answerData()
            onPacket?(packet, now)
        case .liveness, .routing, .empty: break
        }
    }

    private func opened(_ now: Instant) {
        guard stage == .inviting else { return }
        stage = .open
        onOpen?(now)
    }

    // MARK: What goes

    /// A frame that begins with its kind.
    func send(_ payload: [UInt8], _ priority: Priority = .control) {
        guard let datagram = seal?.seal(payload, priority) else { return }
        transmit(datagram)
    }

    /// At most `Limits.messageBytesMax` bytes.
    func sendUnreliable(_ message: [UInt8], _ now: Instant) {
        perform(session.handle(.sendUnreliable(message, .fresh), now: now), now)
    }

    func sendReliable(_ message: [UInt8], _ now: Instant) {
        reliableCount += 1
        var writer = ByteWriter(reserving: message.count + 4)
        writer.writeVarint(reliableCount)
        writer.write(contentsOf: message)
        perform(session.handle(.sendReliable(writer.bytes), now: now), now)
    }

    /// Bytes of reliable messages that the node has not acknowledged.
    var waitingByteCount: Int { session.queuedReliableBytes }

    /// Says things of ways through the mesh.
    func announce(_ items: [RoutingMessage.Item]) {
        routingNumber += 1
        send(RoutingMessage(number: routingNumber, acknowledged: 0, items: items).bytes)
    }

    /// To be called every ten milliseconds or so.
    func tick(_ now: Instant) {
        if stage == .handshaking, let due = handshake?.nextDeadline, due <= now {
            handshake?.deadlineReached(now: now)
            drive(now)
        }
        if now - lastRepeat > .milliseconds(200) { repeatUnanswered(now) }
        guard stage == .open else { return }
        if isOnLink, now - lastHello > .milliseconds(500) {
            lastHello = now
            send(LivenessFrame.hello.bytes)
        }
        if session.nextDeadline ?? .distantFuture <= now {
            perform(session.handle(.deadlineReached, now: now), now)
        }
    }

    private func repeatUnanswered(_ now: Instant) {
        lastRepeat = now
        if stage == .admitting { send(admitFrame.bytes) }
        if stage == .inviting {
            send(InviteFrame(timeout: Limits.invitationTimeout, context: []).bytes)
        }
    }

    private func answerData() {
        if isOnLink { send([FrameKind.empty.rawValue]) }
    }

    private func perform(_ steps: [SessionMachine.Output], _ now: Instant) {
        for step in steps {
            switch step {
            case .frame(let payload, let priority): send(payload, priority)
            case .delivered(let message, let isReliable):
                var reader = ByteReader(message)
                if isReliable { _ = try? reader.readVarint() }
                onMessage?(Array(reader.readRemaining()), now)
            case .drop, .broken: break
            }
        }
    }

    private var admitFrame: AdmitFrame {
        let server = peer ?? identity.ownPeer
        let message = [1] + (seal?.binding ?? []) + identity.ownPeer.bytes + server.bytes
        return AdmitFrame(
            versions: WireVersion.spoken, role: role, preference: .required, hasRoute: false,
            neighbourCount: 0, run: run,
            proof: identity.hmac(key: network.admissionKey, message), name: name)
    }
}
