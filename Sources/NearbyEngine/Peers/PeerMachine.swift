import NearbyCore
import NearbyWire

/// The peers with an open channel: which channel carries the traffic of each, its session, whether
/// it is a neighbour and over which link, and when all that ends.
///
/// What an association, its session or a hop puts out is handled before anything else hears of it.
struct PeerMachine {
    enum Input {
        /// The channel carries its peer's traffic from now on. `nextHop`: as routing has it;
        /// `renewedAt`: when the peer said last that it does not know our channel.
        case use(PeerChannel, nextHop: PeerID?, renewedAt: Instant?)
        /// The channel is gone.
        case closed(PeerChannel)
        /// Opened frames of an admitted channel.
        case hopFrame(HopFrame, on: PeerChannel, Arrival)
        case endToEndFrame(EndToEndFrame, on: PeerChannel, Arrival)
        case pathFrame(PathFrame, on: PeerChannel, Arrival)
        case sendUnreliable([UInt8], to: PeerID, Priority)
        case sendReliable([UInt8], to: PeerID)
        case association(Association.Input, of: Association)
        case hop(HopMachine.Input, of: Neighbour)
        /// Where discovery says that the peer may be, best first.
        case sighted(PeerID, [Endpoint])
        /// Find out whether the other side of a channel answers at an address; not more than once
        /// in 200 ms at one.
        case challenge(PeerChannel, at: Endpoint)
    }

    enum Output {
        /// A frame for a peer, with what else waits for the next hop.
        case enqueue([UInt8], to: PeerID, Priority)
        /// A frame on this very channel, past all queues.
        case send([UInt8], on: PeerChannel, over: Path)
        /// What came with others in one frame.
        case frame(ArraySlice<UInt8>, on: PeerChannel, Arrival)
        case routing(RoutingMessage, from: PeerID, isOvertaken: Bool)
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
        case close(PeerChannel, CloseFrame.Reason)
        case drop(DropReason)
    }

    /// What it sees of the rest of the node. What few inputs need is asked for when it is needed:
    /// each frame passes here.
    struct View {
        let links: LinkTable
        /// The tie-break has all the neighbours that it takes.
        let isFull: () -> Bool
        /// We have a way to a collector.
        let hasWay: () -> Bool
    }

    private let own: PeerID
    private let rekeyAfter: Duration
    private let application: ApplicationTerms?
    private let timers: NodeTimers
    let peers = Peers()
    private var random: SeededGenerator

    init(
        own: PeerID, rekeyAfter: Duration, application: ApplicationTerms? = nil,
        timers: NodeTimers, seed: UInt64
    ) {
        self.own = own
        self.rekeyAfter = rekeyAfter
        self.application = application
        self.timers = timers
        random = SeededGenerator(seed: seed)
    }

    init(own: PeerID, _ configuration: NodeConfiguration, timers: NodeTimers, seed: UInt64) {
        self.init(
            own: own, rekeyAfter: configuration.rekeyAfter, application: configuration.application,
            timers: timers, seed: seed)
    }

    mutating func handle(_ input: Input, seeing view: View, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .use(let channel, let nextHop, let renewedAt):
            use(channel, nextHop: nextHop, renewedAt: renewedAt, view, now, &outputs)
        case .closed(let channel):
            if let association = peers[over: channel] { end(association, &outputs) }
        case .hopFrame(let frame, let channel, let arrival):
            received(frame, on: channel, arrival, view, now, &outputs)
        case .endToEndFrame(let frame, let channel, let arrival):
            received(frame, on: channel, arrival, view, now, &outputs)
        case .pathFrame(let frame, let channel, let arrival):
            received(frame, on: channel, arrival, view, now, &outputs)
        case .sendUnreliable(let message, let peer, let priority):
            guard let association = peers[peer] else { return [.drop(.packetNoRoute)] }
            tell(association, .sendUnreliable(message, priority), now, &outputs)
        case .sendReliable(let message, let peer):
            guard let association = peers[peer] else { return [.drop(.packetNoRoute)] }
            tell(association, .sendReliable(peers.number(message, for: peer)), now, &outputs)
        case .association(let input, let association): tell(association, input, now, &outputs)
        case .hop(let input, let neighbour): tell(neighbour, input, now, &outputs)
        case .sighted(let peer, let endpoints):
            guard let neighbour = peers.neighbour(peer) else { return [] }
            tell(neighbour, .candidates(view.links.paths(to: endpoints)), now, &outputs)
        case .challenge(let channel, let endpoint): challenge(channel, at: endpoint, now, &outputs)
        }
        return outputs
    }

    // MARK: The parts and their outputs

    // All add to the outputs of one input: each frame passes here.

    @inline(never)
    private func tell(
        _ association: Association, _ input: SessionMachine.Input, hops: Int = 1, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        for output in association.handle(input, now: now) {
            outputs.append(translate(output, by: association, hops: hops))
        }
    }

    @inline(never)
    private mutating func tell(
        _ association: Association, _ input: Association.Input, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        for output in association.handle(input, now: now) {
            outputs.append(translate(output, by: association))
        }
    }

    @inline(never)
    private mutating func tell(
        _ neighbour: Neighbour, _ input: HopMachine.Input, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        for output in neighbour.hop.handle(input, now: now) {
            perform(output, of: neighbour, now, &outputs)
        }
    }

    @inline(never)
    private func translate(
        _ output: SessionMachine.Output, by association: Association, hops: Int = 1
    ) -> Output {
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

    private mutating func translate(
        _ output: Association.Output, by association: Association
    ) -> Output {
        switch output {
        case .session(let output): return translate(output, by: association)
        case .resumptionFailed(let attempt): return .invitation(.failed(association.peer, attempt))
        case .renewKeys:
            let channel = association.channel
            let neighbour = peers.neighbour(association.peer)
            return .renewKeys(
                association.peer, over: neighbour.map { Path.link($0.endpoint) } ?? channel.path,
                attempt: channel.attemptNumber &+ 1)
        case .probe:
            let question = PathFrame(isResponse: false, token: random.next())
            let path = Path.mesh(association.peer.short)
            return .send(question.bytes, on: association.channel, over: path)
        case .giveUp: return .close(association.channel, .leaving)
        }
    }

    private mutating func perform(
        _ output: HopMachine.Output, of neighbour: Neighbour, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        let peer = neighbour.peer
        // It may be gone by now, or another.
        guard peers.neighbour(peer) === neighbour, let association = peers[peer] else { return }
        switch output {
        case .send(let payload): outputs.append(.enqueue(payload, to: peer, .control))
        case .answerProbe(let endpoint):
            let answer = LivenessFrame.answer.bytes
            outputs.append(.send(answer, on: association.channel, over: .link(endpoint)))
        case .challenge(let endpoint): challenge(association.channel, at: endpoint, now, &outputs)
        case .moved(let path):
            // The channel stays, and with it what waits.
            association.channel.path = .link(path.endpoint)
            let diagnostic = NodeDiagnostic.neighbourMoved(
                peer, name: neighbour.name, at: path.endpoint)
            outputs.append(.event(.diagnostic(diagnostic)))
        case .costChanged(let cost): outputs.append(.costChanged(peer, cost))
        case .lost:
            remove(neighbour, &outputs)
            outputs.append(.invitation(.channelClosed(association.token)))
            outputs.append(.outOfReach(association, before: neighbour.endpoint))
        }
    }

    // MARK: Frames

    private mutating func received(
        _ frame: HopFrame, on channel: PeerChannel, _ arrival: Arrival, _ view: View,
        _ now: Instant, _ outputs: inout [Output]
    ) {
        // A hop counts only on a link between the two: never out of a mesh packet.
        guard case .link(let endpoint) = arrival.path, let peer = channel.peer else {
            return outputs.append(.drop(.frameWrongLink))
        }
        guard let neighbour = peers.neighbour(peer) else {
            // Declined, or replaced.
            guard channel.stage == .open else { return outputs.append(.drop(.frameNotAdmitted)) }
            return challenge(channel, at: endpoint, now, &outputs)
        }
        let path = view.links.path(to: endpoint)
        switch frame {
        case .liveness(let frame):
            tell(neighbour, .heard(path), now, &outputs)
            return tell(neighbour, .received(frame, from: path), now, &outputs)
        case .empty:
            return tell(neighbour, .frameReceived(isData: false, from: path), now, &outputs)
        case .routing, .packet, .bundle:
            tell(neighbour, .frameReceived(isData: true, from: path), now, &outputs)
        }
        switch frame {
        // The node hands packets on itself.
        case .liveness, .empty, .packet: break
        case .routing(let message):
            let isOvertaken = isOvertaken(arrival.counter, by: peer, on: channel)
            if message.number != 0, !isOvertaken { channel.routingCounter = arrival.counter }
            outputs.append(.routing(message, from: peer, isOvertaken: isOvertaken))
        case .bundle(let bundle):
            for frame in bundle.frames { outputs.append(.frame(frame, on: channel, arrival)) }
        }
    }

    /// Whether a later numbered routing message of this peer was here before the frame.
    private func isOvertaken(_ counter: UInt64, by peer: PeerID, on channel: PeerChannel) -> Bool {
        if let newest = channel.routingCounter, counter < newest { return true }
        guard let current = peers[peer]?.channel, current !== channel else { return false }
        // A channel that was replaced.
        return current.routingCounter != nil
    }

    private mutating func received(
        _ frame: EndToEndFrame, on channel: PeerChannel, _ arrival: Arrival, _ view: View,
        _ now: Instant, _ outputs: inout [Output]
    ) {
        guard let peer = channel.peer, let association = peers[peer] else {
            return outputs.append(.drop(.frameNotAdmitted))
        }
        if !association.crossedAsBefore(arrival.hops) {
            outputs.append(.heard(peer, hops: arrival.hops))
        }
        if case .link(let endpoint) = arrival.path {
            if let neighbour = peers.neighbour(peer) {
                let path = view.links.path(to: endpoint)
                tell(neighbour, .frameReceived(isData: true, from: path), now, &outputs)
            } else {
                challenge(channel, at: endpoint, now, &outputs)
            }
        }
        // A frame that was under way on the replaced channel belongs to the old session.
        guard association.token == channel.token || frame.isMessage else { return }
        tell(association, .received(frame), hops: arrival.hops, now, &outputs)
    }

    private mutating func received(
        _ frame: PathFrame, on channel: PeerChannel, _ arrival: Arrival, _ view: View,
        _ now: Instant, _ outputs: inout [Output]
    ) {
        if let endpoint = arrival.path.endpoint {
            if frame.isResponse { return answered(frame, on: channel, view, now, &outputs) }
            if let peer = peers[over: channel]?.peer, let neighbour = peers.neighbour(peer) {
                tell(neighbour, .heard(view.links.path(to: endpoint)), now, &outputs)
            }
        } else if frame.isResponse {
            // Over the mesh the answer has said all by having come.
            return
        }
        let reply = PathFrame(isResponse: true, token: frame.token)
        outputs.append(.send(reply.bytes, on: channel, over: arrival.path))
    }

    // MARK: Which channel is in use

    /// What was unacknowledged on another one goes again.
    private mutating func use(
        _ channel: PeerChannel, nextHop: PeerID?, renewedAt: Instant?, _ view: View,
        _ now: Instant, _ outputs: inout [Output]
    ) {
        guard let peer = channel.peer, let terms = channel.peerTerms else { return }
        let previous = peers[peer]
        if previous?.token == channel.token { return }
        if previous?.outlasts(channel, own: own, renewedAt: renewedAt, now: now) == true {
            channel.stage = .closing(at: now + Limits.replacedChannelTime)
            return
        }
        if let previous, previous.terms.run != terms.run, peers.removeNeighbour(peer) != nil {
            outputs.append(.neighbourRestarted(peer))
        }
        let association = Association(
            channel, with: peer, terms, firstHop: peers.isNeighbour(peer) ? peer : nextHop,
            instead: previous, rekeyAt: now + rekeyAfter,
            application: application, timers: timers, now: now)
        peers.add(association)
        if let endpoint = channel.path.endpoint {
            adopt(
                association, at: view.links.path(to: endpoint), isNew: true, view, now, &outputs)
        }
        if let previous {
            for message in previous.unacknowledged {
                tell(association, .sendReliable(message), now, &outputs)
            }
            previous.channel.stage = .closing(at: now + Limits.replacedChannelTime)
        } else {
            outputs.append(.event(.peer(peer, .connected)))
        }
        if application != nil {
            let isEncrypted = channel.seal?.isEncrypted ?? true
            outputs.append(
                .event(.application(.channel(peer, run: terms.run, isEncrypted: isEncrypted))))
        }
        outputs.append(.associated(peer))
    }

    /// The peer is gone: its hop, its session and, last, its place in the tie-break.
    private func end(_ association: Association, _ outputs: inout [Output]) {
        let peer = association.peer
        if let neighbour = peers.neighbour(peer) { remove(neighbour, &outputs) }
        guard peers.remove(peer) != nil else { return }
        if let attempt = association.resumingAttempt {
            outputs.append(.invitation(.failed(peer, attempt)))
        }
        outputs.append(.event(.peer(peer, .notConnected)))
        outputs.append(.invitation(.channelClosed(association.token)))
        outputs.append(.dissociated(peer))
    }

    // MARK: Neighbours

    /// Takes a peer as neighbour at an address where it has shown to answer.
    ///
    /// - Parameter isNew: the channel was just opened there.
    private mutating func adopt(
        _ association: Association, at path: LinkPath, isNew: Bool, _ view: View, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        let peer = association.peer
        if let neighbour = peers.neighbour(peer) {
            return tell(neighbour, isNew ? .opened(path) : .answered(path), now, &outputs)
        }
        let hop = HopMachine(
            path: path, decides: own < peer, isDoubted: view.hasWay(), seed: random.next(), now: now
        )
        let neighbour = Neighbour(
            peer: peer, name: association.terms.name, hop: hop, timers: timers)
        peers.add(neighbour)
        tell(association, .nextHop(peer), now, &outputs)
        let diagnostic = NodeDiagnostic.neighbourUp(peer, name: neighbour.name, at: path.endpoint)
        outputs.append(.event(.diagnostic(diagnostic)))
        outputs.append(.neighbourUp(neighbour))
    }

    private func remove(_ neighbour: Neighbour, _ outputs: inout [Output]) {
        guard peers.removeNeighbour(neighbour.peer) != nil else { return }
        let diagnostic = NodeDiagnostic.neighbourLost(neighbour.peer, name: neighbour.name)
        outputs.append(.event(.diagnostic(diagnostic)))
        outputs.append(.neighbourDown(neighbour))
    }

    // MARK: Questions about paths

    @inline(never)
    private mutating func challenge(
        _ channel: PeerChannel, at endpoint: Endpoint, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard channel.stage == .open, let association = peers[over: channel],
            !association.probes.wasJustChallenged(at: endpoint, now: now)
        else { return }
        let question = association.probes.challenge(at: endpoint, token: random.next(), now: now)
        outputs.append(.send(question.bytes, on: channel, over: .link(endpoint)))
    }

    private mutating func answered(
        _ frame: PathFrame, on channel: PeerChannel, _ view: View, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        guard let association = peers[over: channel],
            let endpoint = association.probes.answered(frame.token)
        else { return outputs.append(.drop(.frameUnknownType)) }
        let peer = association.peer
        outputs.append(.invitation(.answered(channel.token)))
        guard view.links.reaches(endpoint) else { return }
        let isNew = !peers.isNeighbour(peer)
        // A full node takes no further neighbour that it did not ask for.
        if isNew, view.isFull(), association.resumingAttempt == nil {
            return outputs.append(.close(channel, .dropped))
        }
        if isNew { channel.path = .link(endpoint) }
        adopt(association, at: view.links.path(to: endpoint), isNew: false, view, now, &outputs)
        if isNew {
            outputs.append(.invitation(.admitted(channel, association.terms, by: peer)))
        }
    }
}
