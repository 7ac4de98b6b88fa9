import NearbyCore
import NearbyWire

/// What leaves a node: datagrams for the network, straight out or in packets through the mesh, and
/// events for the program, in the order in which they happened. It counts what cannot leave.
///
/// Frames for a neighbour wait in its queue until `sendNext` takes them, so that those for one next
/// hop coalesce.
struct Outbox {
    /// What it sees of the rest of the node.
    struct View {
        let peers: Peers
        /// The neighbour that leads to where something is sent; nil: none does.
        let hop: Neighbour?
    }

    private let own: ShortID
    /// Whether packets of others pass through here.
    private let forwards: Bool
    /// A channel's keys are worn after so many frames of one priority.
    private let rekeyFrames: UInt64
    private var outputs: [NodeOutput] = []
    private(set) var drops = DropCounters()
    /// It sees each question as it leaves.
    private var returnedChallenges = ReturnedChallenges()
    /// Neighbours with frames waiting, in the order of their first frame; those before `head` have
    /// had their turn.
    private var waiting: [Neighbour] = []
    private var head = 0

    init(_ configuration: NodeConfiguration, own: PeerID) {
        self.own = own.short
        forwards = configuration.forwards
        rekeyFrames = configuration.rekeyFrames
    }

    @inline(never)
    mutating func add(_ event: NodeEvent) { outputs.append(.event(event)) }

    @inline(never)
    mutating func add(_ transmission: Transmission) { outputs.append(.transmit(transmission)) }

    mutating func drop(_ reason: DropReason) { drops.count(reason) }

    mutating func add(_ counters: DropCounters) { drops.add(counters) }

    mutating func takeOutputs() -> [NodeOutput] {
        defer { outputs = [] }
        return outputs
    }

    // MARK: Frames

    /// A frame for a peer: over the hop if it is a neighbour, otherwise sealed for it and into the
    /// mesh.
    @inline(never)
    mutating func enqueue(
        _ payload: [UInt8], to peer: PeerID, _ priority: Priority, seeing view: View, now: Instant
    ) {
        if let neighbour = view.peers.neighbour(peer) {
            return push(payload, to: neighbour, priority)
        }
        guard let association = view.peers[peer] else { return drop(.packetNoRoute) }
        guard let datagram = seal(payload, on: association.channel, priority, view.peers, now)
        else { return }
        originate(datagram, to: peer.short, priority, seeing: view)
    }

    /// Seals a frame on this very channel and sends it over a path of its own, past all queues.
    mutating func send(
        _ payload: [UInt8], on channel: PeerChannel, over path: Path, seeing view: View,
        now: Instant
    ) {
        guard let datagram = seal(payload, on: channel, .control, view.peers, now) else { return }
        if let endpoint = path.endpoint {
            returnedChallenges.sent(datagram, on: channel.token, to: endpoint, now: now)
        }
        transmit(datagram, over: path, seeing: view)
    }

    /// A datagram on its way: straight out on a link, or into a mesh packet at control priority.
    mutating func transmit(_ datagram: [UInt8], over path: Path, seeing view: View) {
        switch path {
        case .link(let endpoint): add(.unicast(datagram, to: endpoint))
        case .mesh(let destination):
            originate(datagram, to: destination, .control, seeing: view)
        }
    }

    /// A datagram of ours came back with an ICMP error: what to do about the neighbour there. About
    /// one that is already suspect it is no news.
    mutating func returned(
        _ quote: [UInt8], of endpoint: Endpoint, among peers: Peers, now: Instant
    ) -> PeerMachine.Input? {
        if let there = peers.answeringNeighbour(at: endpoint),
            let channel = peers[there.peer]?.channel
        {
            let verdict = returnedChallenges.returned(
                quote, of: there.endpoint, on: channel.token, now: now)
            switch verdict {
            case .challenge: return .challenge(channel, at: there.endpoint)
            case .unreachable: return .hop(.unreachable, of: there)
            case .unproved: break
            }
        }
        drop(.datagramReturned)
        return nil
    }

    // MARK: Packets

    /// Puts a datagram into a mesh packet of our own.
    @inline(never)
    mutating func originate(
        _ datagram: [UInt8], to destination: ShortID, _ priority: Priority,
        hopLimit: UInt8 = MeshPacket.hopLimitAtStart, seeing view: View
    ) {
        let packet = MeshPacket(
            priority: priority, hopLimit: hopLimit, source: own, destination: destination,
            inside: datagram[...])
        hand(packet, to: view.hop)
    }

    /// Hands a packet of others to the next relay.
    mutating func forward(_ packet: MeshPacket, to hop: Neighbour?) {
        guard forwards, packet.source != own else { return drop(.packetNoRoute) }
        guard let onward = packet.forwarded() else { return drop(.packetHopLimit) }
        hand(onward, to: hop)
    }

    private mutating func hand(_ packet: MeshPacket, to hop: Neighbour?) {
        guard let hop else { return drop(.packetNoRoute) }
        var writer = ByteWriter(reserving: packet.inside.count + MeshPacket.headerByteCount + 1)
        writer.write(FrameKind.packet.rawValue)
        packet.emit(into: &writer)
        push(writer.bytes, to: hop, packet.priority)
    }

    // MARK: What waits

    @inline(never)
    private mutating func push(
        _ payload: [UInt8], to neighbour: Neighbour, _ priority: Priority
    ) {
        neighbour.queue.push(payload, priority: priority, counting: &drops)
        guard !neighbour.isWaiting else { return }
        neighbour.isWaiting = true
        waiting.append(neighbour)
    }

    /// The next one whose frames are to leave.
    mutating func nextWaiting(among peers: Peers) -> Neighbour? {
        while head < waiting.count {
            let neighbour = waiting[head]
            head += 1
            neighbour.isWaiting = false
            if peers.neighbour(neighbour.peer) === neighbour { return neighbour }
        }
        waiting.removeAll(keepingCapacity: true)
        head = 0
        return nil
    }

    /// Seals the next frame that waits for this neighbour and sends it.
    ///
    /// - Returns: whether it is a frame of data; nil: nothing leaves any more.
    mutating func sendNext(to neighbour: Neighbour, among peers: Peers, now: Instant) -> Bool? {
        guard !neighbour.queue.isEmpty, let channel = peers[neighbour.peer]?.channel,
            let frame = neighbour.queue.popFrame(byteBudget: Limits.frameBytesMax),
            let datagram = seal(frame.payload, on: channel, frame.priority, peers, now)
        else { return nil }
        add(.unicast(datagram, to: neighbour.endpoint))
        let kind = frame.payload.first.flatMap(FrameKind.init)
        return kind != .liveness && kind != .empty
    }

    /// The frame sealed with the channel's keys; nil, and counted, if they may seal no more.
    @inline(never)
    private mutating func seal(
        _ payload: [UInt8], on channel: PeerChannel, _ priority: Priority, _ peers: Peers,
        _ now: Instant
    ) -> [UInt8]? {
        guard let datagram = channel.seal?.seal(payload, priority: priority) else {
            drop(.sealExhausted)
            return nil
        }
        if channel.isClient, channel.seal?.isWorn(after: rekeyFrames) == true {
            peers[over: channel]?.keysWorn(now: now)
        }
        return datagram
    }
}

extension Limits {
    /// A payload that makes a datagram of the largest size when sealed, bytes.
    public static let frameBytesMax =
        datagramBytesMax - SealedHeader.byteCount - frameTagByteCount
}
