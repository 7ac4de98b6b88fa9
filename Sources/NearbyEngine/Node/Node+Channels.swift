import NearbyCore
import NearbyWire

/// What becomes of channels: who is let in, which one of a pair is in use, and how they end.
extension Node {
    mutating func perform(_ output: ChannelMachine.Output, _ now: Instant) {
        switch output {
        case .transmit(let datagram, let path): transmit(datagram, over: path, now)
        case .connecting(let peer):
            if peers[peer] == nil, peer != own { tell(.peer(peer, .connecting)) }
        case .notBegun(let peer, let path, let attempt):
            if path.endpoint != nil, peer != own { tellInvitation(.failed(peer, attempt), now) }
        case .progress(let peer, let attempt): tellInvitation(.progress(peer, attempt), now)
        case .handshakeSeen(let introduction):
            tellInvitation(
                .handshakeSeen(
                    from: introduction.peer, run: introduction.run,
                    attempt: introduction.attempt), now)
        case .keyed(let channel): keyed(channel, now)
        case .invited(let channel):
            let decision = decision(for: channel, now)
            tellChannels(.admission(.decide(decision), channel), now)
        case .opened(let channel): opened(channel, now)
        case .declined(let channel, let decision): declined(channel, decision, now)
        case .failed(let channel, let reason, let text): failed(channel, reason, text, now)
        case .ownIdentity(let endpoint): tell(.notice(.ownIdentityElsewhere(endpoint)))
        case .drop(let reason): drops.count(reason)
        case .drops(let counters): drops.add(counters)
        }
    }

    /// Begins a handshake with a peer at one of its addresses, or over the mesh.
    mutating func beginHandshake(
        with peer: PeerID, over path: Path, attempt: UInt16, _ now: Instant
    ) {
        let nonce = UInt32(truncatingIfNeeded: random.next())
        tellChannels(.invite(peer, over: path, attempt: attempt, nonce: nonce), now)
    }

    mutating func channelDeadlineReached(_ token: ChannelToken, _ now: Instant) {
        guard let channel = channels[token] else { return }
        let peer = channel.isClient && !channel.isAnswered ? channel.expectedPeer : nil
        let endpoints = peer.map { reachable($0) } ?? []
        tellChannels(.deadlineReached(token, reachable: endpoints), now)
    }

    // MARK: Admission

    private mutating func keyed(_ channel: Channel, _ now: Instant) {
        if let peer = channel.peer, let holder = peers.holder(of: peer.short), holder != peer {
            let text = "\(holder) has the same first 8 bytes"
            let outputs = channels.fail(channel, .admissionShortIDTaken, text)
            return work.add(outputs, as: Work.channel)
        }
        let hasRoute = addressees.costToCollector(routing) != nil
        let outputs = channels.admit(
            channel, hasRoute: hasRoute, neighbourCount: peers.neighbourCount, now: now)
        work.add(outputs, as: Work.channel)
    }

    /// A neighbour needs a place in our table; over the mesh only collectors and viewers are
    /// called.
    private mutating func decision(for channel: Channel, _ now: Instant) -> DecisionFrame {
        guard let peer = channel.peer, let terms = channel.peerTerms, channel.path.endpoint != nil,
            !peers.isNeighbour(peer)
        else { return DecisionFrame(verdict: .accepted, retryAfter: .zero) }
        let (routing, collectors) = (routing, configuration.collectors)
        let (decision, outputs) = invitation.decision(
            forInvitationFrom: peer, hasRoute: terms.hasRoute,
            neighbourCount: Int(terms.neighbourCount),
            reach: { routing.reach(via: $0, collectors: collectors) }, now: now)
        work.add(outputs, as: Work.invitation)
        return decision
    }

    private mutating func declined(_ channel: Channel, _ decision: DecisionFrame, _ now: Instant) {
        guard let peer = channel.peer else { return }
        if peers[peer] == nil { tell(.peer(peer, .notConnected)) }
        guard channel.isClient, channel.path.endpoint != nil else { return }
        tellInvitation(
            .declined(peer, channel.attemptNumber, retryAfter: decision.retryAfter), now)
    }

    private mutating func failed(
        _ channel: Channel, _ reason: DropReason, _ text: String, _ now: Instant
    ) {
        let peer = channel.peer ?? channel.expectedPeer
        if let peer, let endpoint = channel.path.endpoint, let cause = RefusedNode.Cause(reason) {
            refuse(peer, at: endpoint, cause, now)
        } else {
            tell(.notice(.refused(peer, reason, at: channel.path.endpoint, text: text)))
        }
        guard let peer else { return }
        if peers[peer] == nil { tell(.peer(peer, .notConnected)) }
        if channel.isClient, channel.key.path.endpoint != nil {
            tellInvitation(.failed(peer, channel.attemptNumber), now)
        }
    }

    private mutating func opened(_ channel: Channel, _ now: Instant) {
        guard let peer = channel.peer, let terms = channel.peerTerms else { return }
        refused.remove(peer)
        book.met(peer, terms, now: now)
        guard channel.path.endpoint != nil else { return use(channel, now) }
        admitted(channel, peer, terms, now)
    }

    /// The tie-break hears of a channel with a neighbour.
    mutating func admitted(
        _ channel: Channel, _ peer: PeerID, _ terms: AdmitFrame, _ now: Instant
    ) {
        tellInvitation(
            .admitted(
                channel.token, peer: peer, run: terms.run, attempt: channel.attemptNumber,
                weAreClient: channel.isClient), now)
    }

    // MARK: Which channel is in use

    /// From now on the peer's traffic goes over this channel; what was unacknowledged goes again.
    mutating func use(_ channel: Channel, _ now: Instant) {
        guard let peer = channel.peer, let terms = channel.peerTerms else { return }
        let previous = peers[peer]
        if previous?.token == channel.token { return }
        if let previous, let current = channels[previous.token],
            outlasts(current, previous, channel, now)
        {
            channel.stage = .closing(at: now + Limits.replacedChannelTime)
            return
        }
        if let previous, previous.terms.run != terms.run { forgetNeighbour(peer, now) }
        let association = Association(
            peer: peer, token: channel.token, terms: terms,
            rekeyAt: now + configuration.rekeyAfter, timers: timers, now: now)
        association.firstHop = peers.isNeighbour(peer) ? peer : routing.nextHop(to: peer.short)
        association.resumption = previous?.resumption
        peers.add(association)
        if let endpoint = channel.path.endpoint {
            adopt(association, at: way(to: endpoint), isNew: true, now)
        }
        if let previous {
            for message in previous.session.takeUnacknowledged() {
                tell(association, .sendReliable(message), now)
            }
            channels[previous.token]?.stage = .closing(at: now + Limits.replacedChannelTime)
        } else {
            tell(.peer(peer, .connected))
        }
        work.add(.addresseesHear(.associated(peer)))
    }

    /// A channel that began on a link and one that began over the mesh at the same time: both sides
    /// keep the former, in whatever order they were opened. Not one that the other side said it has
    /// lost: the new channel is our answer to that.
    private func outlasts(
        _ current: Channel, _ association: Association, _ new: Channel, _ now: Instant
    ) -> Bool {
        if let renewedAt = addressees.renewedAt(association.peer),
            renewedAt >= association.openedAt
        {
            return false
        }
        return current.stage == .open && current.key.path.endpoint != nil
            && new.key.path.endpoint == nil && current.peerTerms?.run == new.peerTerms?.run
            && now - association.openedAt < Limits.invitationTimeout
    }

    // MARK: Ends

    mutating func close(_ channel: Channel, _ reason: CloseFrame.Reason, _ now: Instant) {
        if channel.seal != nil {
            send(CloseFrame(reason: reason).bytes, on: channel, over: channel.path, now)
        }
        removed(channel, now)
    }

    mutating func closeReceived(_ frame: CloseFrame, on channel: Channel, _ now: Instant) {
        guard !channel.isAttempt else {
            let reason = frame.reason.dropReason
            let outputs = channels.fail(
                channel, reason, "the other side refused: \(reason.explanation)")
            return work.add(outputs, as: Work.channel)
        }
        tellInvitation(.channelClosed(channel.token), now)
        removed(channel, now)
    }

    private mutating func removed(_ channel: Channel, _ now: Instant) {
        let association = peers[over: channel]
        channels.remove(channel)
        if let association { dissociate(association, now) }
    }

    // MARK: Frames for channels that we do not have

    /// Its sender believes in a peer that restarted. It is told: over a link by a nudge, over the
    /// mesh each in its turn.
    mutating func unknownChannel(_ index: UInt32, from path: Path, _ now: Instant) {
        switch path {
        case .link(let endpoint): nudge(endpoint, attempt: nil, now)
        case .mesh(let source):
            guard channels.mayTellUnknown(source, now: now) else { return }
            originate(UnknownChannelHint(index: index).bytes, to: source, .control, now)
        }
    }

    /// An addressee does not know our channel.
    mutating func unknownChannelHint(_ bytes: [UInt8], from path: Path, _ now: Instant) {
        guard case .mesh(let source) = path, let hint = try? UnknownChannelHint(parsing: bytes[...])
        else { return drops.count(.frameMalformed) }
        guard let peer = peers.holder(of: source), let association = peers[peer],
            channels[association.token]?.seal?.remoteIndex == hint.index
        else { return }
        tellAddressees(.channelUnknown(peer), now)
    }
}

extension CloseFrame.Reason {
    var dropReason: DropReason {
        switch self {
        case .wrongSecret, .notAdmitted: .admissionSecret
        case .version: .admissionVersion
        case .preference: .admissionPreference
        case .shortIDTaken: .admissionShortIDTaken
        case .leaving, .replaced, .dropped: .handshakeFailed
        }
    }
}

extension DropReason {
    /// What to do about a refusal, for people.
    var explanation: String {
        switch self {
        case .admissionSecret: "the network secrets differ: put the same secret on both nodes"
        case .admissionVersion: "no common wire version: update the older node"
        case .admissionPreference: "one side requires encryption, the other refuses it"
        case .admissionTimeout: "the handshake was right, but no proof of the network secret came"
        case .invitationTimeout: "the invitation was not answered in time"
        case .admissionShortIDTaken: "another peer has the same first 8 bytes of its PeerID"
        default: rawValue
        }
    }
}

extension Limits {
    public static let invitationTimeout = Duration.seconds(30)
}
