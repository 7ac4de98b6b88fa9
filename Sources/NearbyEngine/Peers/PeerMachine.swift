import NearbyCore
import NearbyWire

/// The peers with an open channel: which channel carries the traffic of each, its session, whether
/// it is a neighbour and over which link, and when all that ends.
///
/// What an association, its session or a hop says is acted on before anybody else is told of
/// anything.
struct PeerMachine {
    enum Input {
        /// The channel carries its peer's traffic from now on. `nextHop`: as routing has it;
        /// `renewedAt`: when the peer said last that it does not know our channel.
        case use(Channel, nextHop: PeerID?, renewedAt: Instant?)
        /// The channel is gone.
        case closed(Channel)
        /// Opened frames of an admitted channel.
        case hopFrame(HopFrame, on: Channel, Arrival)
        case endToEndFrame(EndToEndFrame, on: Channel, Arrival)
        case pathFrame(PathFrame, on: Channel, Arrival)
        case sendUnreliable([UInt8], to: PeerID, Priority)
        case sendReliable([UInt8], to: PeerID)
        case association(Association.Input, of: Association)
        case hop(HopMachine.Input, of: Neighbour)
        /// Where discovery says that the peer may be, best first.
        case sighted(PeerID, [Endpoint])
        /// Find out whether the other side of a channel answers at an address; not more than once
        /// in 200 ms at one.
        case challenge(Channel, at: Endpoint)
    }

    enum Output {
        /// A frame for a peer, with what else waits for the next hop.
        case enqueue([UInt8], to: PeerID, Priority)
        /// A frame on this very channel, past all queues.
        case send([UInt8], on: Channel, over: Path)
        /// What came with others in one frame.
        case frame(ArraySlice<UInt8>, on: Channel, Arrival)
        case routing(RoutingMessage, from: PeerID, isOvertaken: Bool)
        /// `from`: the neighbour that handed it to us.
        case packet(MeshPacket, from: PeerID)
        case heard(PeerID, hops: Int)
        case event(NodeEvent)
        /// What the tie-break is to hear.
        case invitation(InvitationMachine.Input)
        case associated(PeerID)
        case dissociated(PeerID)
        case neighbourUp(Neighbour)
        /// The hop is gone, and what routing heard over it is void.
        case neighbourDown(Neighbour)
        /// The peer has restarted: what it told is void, and it has to be told everything anew.
        case neighbourRestarted(PeerID)
        /// The channel stays while the mesh, or another link, may still reach the peer.
        case outOfReach(Association, before: Endpoint)
        case costChanged(PeerID, UInt16)
        /// Begin a handshake beside the channel that there is.
        case renewKeys(PeerID, over: Path, attempt: UInt16)
        case close(Channel, CloseFrame.Reason)
        case drop(DropReason)
    }

    /// What it sees of the rest of the node.
    struct View {
        let links: LinkTable
        /// The tie-break has all the neighbours that it takes.
        let isFull: Bool
    }

    private let own: PeerID
    private let rekeyAfter: Duration
    private let timers: NodeTimers
    private(set) var peers = Peers()
    private var random: SeededGenerator

    init(own: PeerID, rekeyAfter: Duration, timers: NodeTimers, seed: UInt64) {
        self.own = own
        self.rekeyAfter = rekeyAfter
        self.timers = timers
        random = SeededGenerator(seed: seed)
    }

    mutating func handle(_ input: Input, seeing view: View, now: Instant) -> [Output] {
        switch input {
        case .use(let channel, let nextHop, let renewedAt):
            return use(channel, nextHop: nextHop, renewedAt: renewedAt, view.links, now)
        case .closed(let channel): return peers[over: channel].map { end($0) } ?? []
        case .hopFrame(let frame, let channel, let arrival):
            return received(frame, on: channel, arrival, view, now)
        case .endToEndFrame(let frame, let channel, let arrival):
            return received(frame, on: channel, arrival, view, now)
        case .pathFrame(let frame, let channel, let arrival):
            return received(frame, on: channel, arrival, view, now)
        case .sendUnreliable(let message, let peer, let priority):
            guard let association = peers[peer] else { return [.drop(.packetNoRoute)] }
            return tell(association, .sendUnreliable(message, priority), now)
        case .sendReliable(let message, let peer):
            guard let association = peers[peer] else { return [.drop(.packetNoRoute)] }
            return tell(association, .sendReliable(peers.number(message, for: peer)), now)
        case .association(let input, let association): return tell(association, input, now)
        case .hop(let input, let neighbour): return tell(neighbour, input, now)
        case .sighted(let peer, let endpoints):
            guard let neighbour = peers.neighbour(peer) else { return [] }
            return tell(neighbour, .candidates(view.links.ways(to: endpoints)), now)
        case .challenge(let channel, let endpoint): return challenge(channel, at: endpoint, now)
        }
    }

    // MARK: The parts and what they say

    @inline(never)
    private mutating func tell(
        _ association: Association, _ input: SessionMachine.Input, hops: Int = 1, _ now: Instant
    ) -> [Output] {
        association.handle(input, now: now).compactMap { perform($0, of: association, hops: hops) }
    }

    @inline(never)
    private mutating func tell(
        _ association: Association, _ input: Association.Input, _ now: Instant
    ) -> [Output] {
        association.handle(input, now: now).compactMap { perform($0, of: association) }
    }

    @inline(never)
    private mutating func tell(
        _ neighbour: Neighbour, _ input: HopMachine.Input, _ now: Instant
    ) -> [Output] {
        neighbour.hop.handle(input, now: now).flatMap { perform($0, of: neighbour, now) }
    }

    @inline(never)
    private mutating func perform(
        _ output: SessionMachine.Output, of association: Association, hops: Int = 1
    ) -> Output? {
        let peer = association.peer
        switch output {
        case .frame(let payload, let priority): return .enqueue(payload, to: peer, priority)
        // What was delivered stays so, whatever became of the association meanwhile.
        case .delivered(let message, isReliable: false):
            return .event(.message(message, from: peer, isReliable: false, hops: hops))
        case .delivered(let message, isReliable: true):
            switch peers.accept(message, from: peer) {
            case .success(let plain):
                return .event(.message(plain, from: peer, isReliable: true, hops: hops))
            case .failure(let refusal): return .drop(refusal.reason)
            }
        case .drop(let reason): return .drop(reason)
        case .broken: return .close(association.channel, .dropped)
        }
    }

    private mutating func perform(
        _ output: Association.Output, of association: Association
    ) -> Output? {
        switch output {
        case .session(let output): return perform(output, of: association)
        case .resumptionFailed(let attempt): return .invitation(.failed(association.peer, attempt))
        case .renewKeys:
            let channel = association.channel
            let neighbour = peers.neighbour(association.peer)
            return .renewKeys(
                association.peer, over: neighbour.map { Path.link($0.endpoint) } ?? channel.path,
                attempt: channel.attemptNumber &+ 1)
        case .askWhetherThere:
            let question = PathFrame(isResponse: false, token: random.next())
            let path = Path.mesh(association.peer.short)
            return .send(question.bytes, on: association.channel, over: path)
        case .giveUp: return .close(association.channel, .leaving)
        }
    }

    private mutating func perform(
        _ output: HopMachine.Output, of neighbour: Neighbour, _ now: Instant
    ) -> [Output] {
        let peer = neighbour.peer
        // It may be gone by now, or another.
        guard peers.neighbour(peer) === neighbour, let association = peers[peer] else { return [] }
        switch output {
        case .send(let payload): return [.enqueue(payload, to: peer, .control)]
        case .answerProbe(let endpoint):
            let answer = LivenessFrame.answer.bytes
            return [.send(answer, on: association.channel, over: .link(endpoint))]
        case .ask(let endpoint): return challenge(association.channel, at: endpoint, now)
        case .moved(let way):
            // The channel stays, and with it what waits.
            association.channel.path = .link(way.endpoint)
            let notice = NodeNotice.neighbourMoved(peer, name: neighbour.name, at: way.endpoint)
            return [.event(.notice(notice))]
        case .costChanged(let cost): return [.costChanged(peer, cost)]
        case .lost:
            return remove(neighbour) + [
                .invitation(.channelClosed(association.token)),
                .outOfReach(association, before: neighbour.endpoint),
            ]
        }
    }

    // MARK: Frames

    private mutating func received(
        _ frame: HopFrame, on channel: Channel, _ arrival: Arrival, _ view: View, _ now: Instant
    ) -> [Output] {
        // A hop counts only on a link between the two: never out of a mesh packet.
        guard case .link(let endpoint) = arrival.path, let peer = channel.peer else {
            return [.drop(.frameWrongLink)]
        }
        guard let neighbour = peers.neighbour(peer) else {
            return challenge(channel, at: endpoint, now)
        }
        let way = view.links.way(to: endpoint)
        var outputs = tell(neighbour, .heard(way), now)
        switch frame {
        case .liveness(let frame):
            return outputs + tell(neighbour, .received(frame, from: way), now)
        case .empty: return outputs + tell(neighbour, .frameReceived(isData: false), now)
        case .routing, .packet, .bundle:
            outputs += tell(neighbour, .frameReceived(isData: true), now)
        }
        switch frame {
        case .liveness, .empty: break
        case .routing(let message):
            let isOvertaken = isOvertaken(arrival.counter, by: peer, on: channel)
            if message.number != 0, !isOvertaken { channel.routingCounter = arrival.counter }
            outputs.append(.routing(message, from: peer, isOvertaken: isOvertaken))
        case .packet(let packet): outputs.append(.packet(packet, from: peer))
        case .bundle(let bundle):
            outputs += bundle.frames.map { .frame($0, on: channel, arrival) }
        }
        return outputs
    }

    /// Whether a later numbered routing message of this peer was here before the frame.
    private func isOvertaken(_ counter: UInt64, by peer: PeerID, on channel: Channel) -> Bool {
        if let newest = channel.routingCounter, counter < newest { return true }
        guard let current = peers[peer]?.channel, current !== channel else { return false }
        // A channel that was replaced.
        return current.routingCounter != nil
    }

    private mutating func received(
        _ frame: EndToEndFrame, on channel: Channel, _ arrival: Arrival, _ view: View,
        _ now: Instant
    ) -> [Output] {
        guard let peer = channel.peer, let association = peers[peer] else {
            return [.drop(.frameNotAdmitted)]
        }
        var outputs: [Output] = [.heard(peer, hops: arrival.hops)]
        if case .link(let endpoint) = arrival.path {
            if let neighbour = peers.neighbour(peer) {
                outputs += tell(neighbour, .heard(view.links.way(to: endpoint)), now)
                outputs += tell(neighbour, .frameReceived(isData: true), now)
            } else {
                outputs += challenge(channel, at: endpoint, now)
            }
        }
        // A frame that was under way on the replaced channel belongs to the old session.
        guard association.token == channel.token || frame.isMessage else { return outputs }
        return outputs + tell(association, .received(frame), hops: arrival.hops, now)
    }

    private mutating func received(
        _ frame: PathFrame, on channel: Channel, _ arrival: Arrival, _ view: View, _ now: Instant
    ) -> [Output] {
        guard let endpoint = arrival.path.endpoint else {
            // Over the mesh the answer has said all by having come.
            return frame.isResponse ? [] : [reply(to: frame, on: channel, arrival)]
        }
        if frame.isResponse { return answered(frame, on: channel, view, now) }
        let neighbour = peers[over: channel].flatMap { peers.neighbour($0.peer) }
        let way = view.links.way(to: endpoint)
        let heard = neighbour.map { tell($0, .heard(way), now) } ?? []
        return heard + [reply(to: frame, on: channel, arrival)]
    }

    private func reply(
        to question: PathFrame, on channel: Channel, _ arrival: Arrival
    ) -> Output {
        let reply = PathFrame(isResponse: true, token: question.token)
        return .send(reply.bytes, on: channel, over: arrival.path)
    }

    // MARK: Which channel is in use

    /// What was unacknowledged on another one goes again.
    private mutating func use(
        _ channel: Channel, nextHop: PeerID?, renewedAt: Instant?, _ links: LinkTable,
        _ now: Instant
    ) -> [Output] {
        guard let peer = channel.peer, let terms = channel.peerTerms else { return [] }
        let previous = peers[peer]
        if previous?.token == channel.token { return [] }
        if previous?.outlasts(channel, renewedAt: renewedAt, now: now) == true {
            channel.stage = .closing(at: now + Limits.replacedChannelTime)
            return []
        }
        var outputs: [Output] = []
        if let previous, previous.terms.run != terms.run, peers.removeNeighbour(peer) != nil {
            outputs.append(.neighbourRestarted(peer))
        }
        let association = Association(
            channel, with: peer, terms, firstHop: peers.isNeighbour(peer) ? peer : nextHop,
            instead: previous, rekeyAt: now + rekeyAfter, timers: timers, now: now)
        peers.add(association)
        if let endpoint = channel.path.endpoint {
            outputs += adopt(association, at: links.way(to: endpoint), isNew: true, now)
        }
        if let previous {
            for message in previous.unacknowledged {
                outputs += tell(association, .sendReliable(message), now)
            }
            previous.channel.stage = .closing(at: now + Limits.replacedChannelTime)
        } else {
            outputs.append(.event(.peer(peer, .connected)))
        }
        return outputs + [.associated(peer)]
    }

    /// The peer is gone: its hop, its session and, last, its place in the tie-break.
    private mutating func end(_ association: Association) -> [Output] {
        let peer = association.peer
        var outputs = peers.neighbour(peer).map { remove($0) } ?? []
        guard peers.remove(peer) != nil else { return outputs }
        if let attempt = association.resumingAttempt {
            outputs.append(.invitation(.failed(peer, attempt)))
        }
        return outputs + [
            .event(.peer(peer, .notConnected)), .invitation(.channelClosed(association.token)),
            .dissociated(peer),
        ]
    }

    // MARK: Neighbours

    /// Takes a peer as neighbour at an address where it has shown to answer.
    ///
    /// - Parameter isNew: the channel was just opened there.
    private mutating func adopt(
        _ association: Association, at way: LinkWay, isNew: Bool, _ now: Instant
    ) -> [Output] {
        let peer = association.peer
        if let neighbour = peers.neighbour(peer) {
            return tell(neighbour, isNew ? .opened(way) : .answered(way), now)
        }
        let hop = HopMachine(way: way, decides: own < peer, seed: random.next(), now: now)
        let neighbour = Neighbour(
            peer: peer, name: association.terms.name, hop: hop, timers: timers)
        peers.add(neighbour)
        let notice = NodeNotice.neighbourUp(peer, name: neighbour.name, at: way.endpoint)
        return tell(association, .nextHop(peer), now) + [
            .event(.notice(notice)), .neighbourUp(neighbour),
        ]
    }

    private mutating func remove(_ neighbour: Neighbour) -> [Output] {
        guard peers.removeNeighbour(neighbour.peer) != nil else { return [] }
        let notice = NodeNotice.neighbourLost(neighbour.peer, name: neighbour.name)
        return [.event(.notice(notice)), .neighbourDown(neighbour)]
    }

    // MARK: Questions about paths

    @inline(never)
    private mutating func challenge(
        _ channel: Channel, at endpoint: Endpoint, _ now: Instant
    ) -> [Output] {
        guard channel.stage == .open, let association = peers[over: channel],
            !association.probes.wasJustAsked(at: endpoint, now: now)
        else { return [] }
        let question = association.probes.ask(at: endpoint, token: random.next(), now: now)
        return [.send(question.bytes, on: channel, over: .link(endpoint))]
    }

    private mutating func answered(
        _ frame: PathFrame, on channel: Channel, _ view: View, _ now: Instant
    ) -> [Output] {
        guard let association = peers[over: channel],
            let endpoint = association.probes.answered(frame.token)
        else { return [.drop(.frameUnknownType)] }
        let peer = association.peer
        var outputs: [Output] = [.invitation(.answered(channel.token))]
        guard view.links.reaches(endpoint) else { return outputs }
        let isNew = !peers.isNeighbour(peer)
        // A full node takes no further neighbour that it did not ask for.
        if isNew, view.isFull, association.resumingAttempt == nil {
            return outputs + [.close(channel, .dropped)]
        }
        if isNew { channel.path = .link(endpoint) }
        outputs += adopt(association, at: view.links.way(to: endpoint), isNew: false, now)
        if isNew { outputs.append(.invitation(.admitted(channel, association.terms, by: peer))) }
        return outputs
    }
}

extension InvitationMachine.Input {
    /// The tie-break hears of a channel with a neighbour.
    static func admitted(_ channel: Channel, _ terms: AdmitFrame, by peer: PeerID) -> Self {
        .admitted(
            channel.token, peer: peer, run: terms.run, attempt: channel.attemptNumber,
            weAreClient: channel.isClient)
    }
}
