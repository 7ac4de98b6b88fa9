import NearbyCore
import NearbyWire

/// Round trips that the program asks for, and the answers to those of others.
///
/// A peer with a channel is asked over it, with the question that every version answers
/// (`PathFrame`). Relays, and peers without a channel, are asked by an `EchoRequest` in a mesh
/// packet.
struct EchoMachine {
    enum Input {
        /// As `NodeInput.echo`.
        case request(UInt64, PeerID, UInt8?)
        /// An echo in a packet whose path ends here.
        case received(MeshPacket, from: PeerID)
        /// One of the answers that `awaits` knows, on a channel with the peer.
        case answered(PathFrame, by: PeerID?, hops: Int)
    }

    enum Output {
        /// A datagram into a mesh packet of our own.
        case originate([UInt8], to: ShortID, Priority, hopLimit: UInt8)
        /// A frame on this very channel, past all queues.
        case send([UInt8], on: PeerChannel, over: Path)
        case event(NodeEvent)
        case drop(DropReason)
    }

    private struct Pending {
        var token: UInt64
        /// Who has to answer; nil: whoever is there.
        var peer: PeerID?
        var sentAt: Instant
    }

    private let own: ShortID
    private let name: String
    /// Oldest first; beyond the limit the oldest is forgotten.
    private var pending: [Pending] = []
    private var shares = EchoShares()

    init(own: PeerID, name: String) {
        self.own = own.short
        self.name = name
    }

    var pendingCount: Int { pending.count }

    mutating func handle(
        _ input: Input, seeing view: Outbox.View, _ links: LinkTable, now: Instant
    ) -> [Output] {
        switch input {
        case .request(let token, let peer, let hopLimit):
            return request(token, peer, hopLimit, view, now)
        case .received(let packet, let neighbour):
            guard packet.inside.first == EchoRequest.type else { return [answered(packet, now)] }
            let hop = view.peers.neighbour(neighbour)
            var answer = EchoAnswer(token: 0, link: nil, name: name)
            answer.link = hop.map { links.path(to: $0.endpoint).linkClass }
            answer.lossPercent = hop.map { UInt8(clamping: $0.hop.lossPercent) }
            return [respond(to: packet, from: neighbour, with: answer, now)]
        case .answered(let frame, let peer, let hops):
            guard let peer, let asked = settle(frame.token, by: peer) else {
                return [.drop(.echoUnsolicited)]
            }
            let answer = EchoAnswer(token: frame.token, link: nil, name: "")
            let time = now - asked.sentAt
            return [.event(.echo(answer, from: peer.short, hops: hops, after: time))]
        }
    }

    /// Whether it answers one of these questions, by the peer that was asked.
    @inline(never)
    func awaits(_ frame: PathFrame, by peer: PeerID?) -> Bool {
        frame.isResponse && pending.contains { $0.token == frame.token && $0.peer == peer }
    }

    // MARK: Asking

    private mutating func request(
        _ token: UInt64, _ peer: PeerID, _ hopLimit: UInt8?, _ view: Outbox.View, _ now: Instant
    ) -> [Output] {
        let hasRoute = view.hop != nil
        if hopLimit == nil, let channel = view.peers[peer]?.channel,
            let path = view.peers.neighbour(peer).map({ Path.link($0.endpoint) })
                ?? (hasRoute ? .mesh(peer.short) : nil)
        {
            record(token, askedOf: peer, now)
            let question = PathFrame(isResponse: false, token: token)
            return [.send(question.bytes, on: channel, over: path)]
        }
        guard hasRoute else { return [] }
        record(token, askedOf: nil, now)
        return [
            .originate(
                EchoRequest(token: token).bytes, to: peer.short, .fresh,
                hopLimit: hopLimit ?? MeshPacket.hopLimitAtStart)
        ]
    }

    private mutating func record(_ token: UInt64, askedOf peer: PeerID?, _ now: Instant) {
        if pending.count >= Limits.echoesPendingMax { pending.removeFirst() }
        pending.append(Pending(token: token, peer: peer, sentAt: now))
    }

    private mutating func settle(_ token: UInt64, by peer: PeerID?) -> Pending? {
        guard let index = pending.firstIndex(where: { $0.token == token && $0.peer == peer })
        else { return nil }
        return pending.remove(at: index)
    }

    private mutating func answered(_ packet: MeshPacket, _ now: Instant) -> Output {
        // On its way to somebody else it has run out of hops.
        guard packet.destination == own else { return .drop(.packetHopLimit) }
        guard let answer = try? EchoAnswer(parsing: packet.inside) else {
            return .drop(.frameMalformed)
        }
        guard let asked = settle(answer.token, by: nil) else { return .drop(.echoUnsolicited) }
        let time = now - asked.sentAt
        return .event(.echo(answer, from: packet.source, hops: packet.hopCount, after: time))
    }

    // MARK: Answering

    /// Only questions are answered, each by one datagram that is no longer.
    private mutating func respond(
        to packet: MeshPacket, from neighbour: PeerID, with answer: EchoAnswer, _ now: Instant
    ) -> Output {
        guard let question = try? EchoRequest(parsing: packet.inside) else {
            return .drop(.frameMalformed)
        }
        guard shares.take(packet.source, over: neighbour, now: now) else {
            return .drop(.echoRate)
        }
        var answer = answer
        answer.token = question.token
        let bytes = answer.fitted(to: question.byteCount).bytes
        return .originate(
            bytes, to: packet.source, max(packet.priority, .fresh),
            hopLimit: MeshPacket.hopLimitAtStart)
    }
}

extension MeshPacket {
    var isEcho: Bool { inside.first.map { DatagramKind(firstByte: $0) == .echo } ?? false }
}

extension Outbox {
    /// What the machine says is done at once: it only sends, and tells.
    mutating func tell(
        _ echoes: inout EchoMachine, _ input: EchoMachine.Input, seeing view: View,
        _ links: LinkTable, now: Instant
    ) {
        for output in echoes.handle(input, seeing: view, links, now: now) {
            carryOut(output, seeing: view, now: now)
        }
    }

    private mutating func carryOut(
        _ output: EchoMachine.Output, seeing view: View, now: Instant
    ) {
        switch output {
        case .originate(let datagram, let node, let priority, let hopLimit):
            originate(datagram, to: node, priority, hopLimit: hopLimit, seeing: view)
        case .send(let frame, let channel, let path):
            send(frame, on: channel, over: path, seeing: view, now: now)
        case .event(let event): add(event)
        case .drop(let reason): drop(reason)
        }
    }
}

extension Limits {
    /// Round trips that are awaited at a time.
    static let echoesPendingMax = 64
}
