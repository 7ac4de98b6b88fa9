import NearbyCore
import NearbyWire

/// Sealed frames, admission, invitation, and which channel of a pair is in use.
extension Node {
    mutating func sealedFrameReceived(_ bytes: [UInt8], from path: Path, _ now: Instant) {
        guard let header = try? SealedHeader(parsing: bytes[...]) else {
            return drops.count(.frameMalformed)
        }
        guard let token = tokensByIndex[header.index], let channel = channels[token] else {
            drops.count(.frameUnknownChannel)
            return unknownChannel(header.index, from: path, now)
        }
        guard let opened = channel.seal?.open(bytes, header) else { return }
        switch opened {
        case .failure(let refusal): drops.count(refusal.reason)
        case .success(let payload):
            // The first frame of the other side shows that it has the keys; OpenSSL's object may
            // go.
            channel.handshake = nil
            channel.heardAt = now
            channel.counterInHand = header.counter
            payloadReceived(payload, on: channel, from: path, header.priority, now)
        }
    }

    /// One frame, opened: `payload` begins with its kind.
    mutating func payloadReceived(
        _ payload: ArraySlice<UInt8>, on channel: Channel, from path: Path, _ priority: Priority,
        _ now: Instant
    ) {
        do throws(Frame.Refusal) {
            received(try Frame(parsing: payload), on: channel, from: path, priority, now)
        } catch {
            drops.count(error.reason)
        }
    }

    private mutating func received(
        _ frame: Frame, on channel: Channel, from path: Path, _ priority: Priority, _ now: Instant
    ) {
        switch frame {
        case .channel(let frame): channelFrameReceived(frame, on: channel, from: path, now)
        case _ where channel.peerTerms == nil || channel.stage == .admitting && !channel.isClient:
            drops.count(.frameNotAdmitted)
        case _ where channel.stage == .admitting:
            // The server sends traffic only once it has accepted: its decision was lost.
            advance(channel, .decision(DecisionFrame(verdict: .accepted, retryAfter: .zero)), now)
            guard channel.stage == .open else { return drops.count(.frameNotAdmitted) }
            received(frame, on: channel, from: path, priority, now)
        case .hop(let frame): hopFrameReceived(frame, on: channel, from: path, priority, now)
        case .endToEnd(let frame): sessionFrameReceived(frame, on: channel, from: path, now)
        }
    }

    private mutating func channelFrameReceived(
        _ frame: ChannelFrame, on channel: Channel, from path: Path, _ now: Instant
    ) {
        switch frame {
        case .admit(let frame): advance(channel, .admit(frame), now)
        case .invite(let frame): advance(channel, .invite(frame), now)
        case .decision(let frame): advance(channel, .decision(frame), now)
        case .close(let frame): closeReceived(frame, on: channel, now)
        case .path(let frame) where frame.isResponse:
            pathResponse(frame, on: channel, from: path, now)
        case .path(let frame):
            if let endpoint = path.endpoint, let peer = channel.peer,
                associations[peer]?.token == channel.token, let neighbour = neighbours[peer]
            {
                heard(neighbour, at: endpoint, now)
            }
            let response = PathFrame(isResponse: true, token: frame.token)
            send(response.bytes, on: channel, over: path, now)
        }
    }

    /// Seals a frame on this very channel and sends it over a path of its own, past all queues.
    mutating func send(_ payload: [UInt8], on channel: Channel, over path: Path, _ now: Instant) {
        guard let datagram = seal(payload, on: channel, .control, now) else { return }
        transmit(datagram, over: path, now)
    }

    // MARK: Admission

    mutating func beginAdmission(
        _ channel: Channel, _ peer: PeerID, binding: [UInt8], _ now: Instant
    ) {
        let terms = AdmissionTerms(
            trust: admissionKeys.isEmpty ? .any : .secret(keys: admissionKeys),
            versions: WireVersion.spoken, preference: configuration.preference,
            role: configuration.role, run: configuration.run, name: configuration.name,
            hasRoute: hasRouteToCollector, neighbourCount: UInt8(clamping: neighbours.count),
            software: configuration.software)
        channel.admission = AdmissionMachine(
            .init(own: own, peer: peer, isClient: channel.isClient, binding: binding), terms: terms,
            invitation: InviteFrame(timeout: Limits.invitationTimeout, context: []),
            cryptography: cryptography)
        advance(channel, .start, now)
    }

    mutating func advance(_ channel: Channel, _ input: AdmissionMachine.Input, _ now: Instant) {
        guard let steps = channel.admission?.handle(input, now: now) else { return }
        for step in steps {
            switch step {
            case .send(let frame): send(frame, on: channel, over: channel.path, now)
            case .admitted(let terms, let isEncrypted):
                channel.peerTerms = terms
                if !channel.isClient { inboundHandshakes.end(channel.token) }
                channel.seal?.isEncrypted = isEncrypted
            case .invited: advance(channel, .decide(verdict(for: channel, now)), now)
            case .accepted: opened(channel, now)
            case .declined(let decision): declined(channel, decision, now)
            case .refused(let reason, let tell):
                if let tell {
                    send(CloseFrame(reason: tell).bytes, on: channel, over: channel.path, now)
                }
                fail(channel, reason, reason.explanation, now)
            }
        }
    }

    /// A neighbour needs a place in our table; over the mesh only collectors and viewers are
    /// called.
    private mutating func verdict(for channel: Channel, _ now: Instant) -> DecisionFrame {
        guard let peer = channel.peer, let terms = channel.peerTerms, channel.path.endpoint != nil,
            neighbours[peer] == nil
        else { return DecisionFrame(verdict: .accepted, retryAfter: .zero) }
        let (routing, collectors) = (routing, configuration.collectors)
        let (decision, steps) = invitation.decision(
            forInvitationFrom: peer, hasRoute: terms.hasRoute,
            neighbourCount: Int(terms.neighbourCount),
            reach: { routing.reach(via: $0, collectors: collectors) }, now: now)
        interpret(steps, now)
        return decision
    }

    private mutating func declined(_ channel: Channel, _ decision: DecisionFrame, _ now: Instant) {
        let peer = channel.peer
        remove(channel)
        guard let peer else { return }
        if associations[peer] == nil { tell(.peer(peer, .notConnected)) }
        guard channel.isClient, channel.path.endpoint != nil else { return }
        interpret(
            invitation.handle(
                .declined(peer, channel.attemptNumber, retryAfter: decision.retryAfter), now: now),
            now)
    }

    private mutating func opened(_ channel: Channel, _ now: Instant) {
        guard let peer = channel.peer, let terms = channel.peerTerms else { return }
        channel.stage = .open
        peersByShortID[peer.short] = peer
        refused.remove(peer)
        book.met(peer, terms, now: now)
        guard channel.path.endpoint != nil else { return use(channel, now) }
        interpret(
            invitation.handle(
                .admitted(
                    channel.token, peer: peer, run: terms.run, attempt: channel.attemptNumber,
                    weAreClient: channel.isClient),
                now: now), now)
    }

    // MARK: Which channel is in use

    /// From now on the peer's traffic goes over this channel; what was unacknowledged goes again.
    mutating func use(_ channel: Channel, _ now: Instant) {
        guard let peer = channel.peer else { return }
        let previous = associations[peer]
        if previous?.token == channel.token { return }
        if let previous, let current = channels[previous.token],
            outlasts(current, previous, channel, now)
        {
            channel.stage = .closing(at: now + Limits.replacedChannelTime)
            return
        }
        if let previous, channels[previous.token]?.peerTerms?.run != channel.peerTerms?.run {
            forgetNeighbour(peer, now)
        }
        let association = Association(
            peer: peer, token: channel.token, session: SessionMachine(),
            rekeyAt: now + configuration.rekeyAfter, timers: timers, now: now)
        associations[peer] = association
        remember(peer, run: channel.peerTerms?.run)
        calls[peer]?.nextAttempt = nil
        calls[peer]?.attempts = 0
        association.firstHop =
            neighbours[peer] == nil ? routing.nextHop(to: peer.short) : peer
        if let endpoint = channel.path.endpoint {
            adopt(peer, at: endpoint, channel, now, isNew: true)
        }
        if let previous {
            for message in previous.session.takeUnacknowledged() {
                sendNumbered(message, to: peer, now)
            }
            if let old = channels[previous.token] {
                old.stage = .closing(at: now + Limits.replacedChannelTime)
            }
        } else {
            tell(.peer(peer, .connected))
        }
        checkRole(of: peer, now)
        announceAddressees(now)
    }

    /// The numbering of reliable messages outlives channels; a full table forgets those that are
    /// gone.
    private mutating func remember(_ peer: PeerID, run: RunID?) {
        if reliableNumbers.count >= Limits.channelsMax {
            reliableNumbers = reliableNumbers.filter { associations[$0.key] != nil }
        }
        if let run { reliableNumbers[peer, default: ReliableNumbers()].connected(to: run) }
    }

    /// A channel that began on a link and one that began over the mesh at the same time: both sides
    /// keep the former, in whatever order they were opened. Not one that the other side said it has
    /// lost: the new channel is our answer to that.
    private func outlasts(
        _ current: Channel, _ association: Association, _ new: Channel, _ now: Instant
    ) -> Bool {
        if let renewedAt = calls[association.peer]?.renewedAt, renewedAt >= association.openedAt {
            return false
        }
        return current.stage == .open && current.key.path.endpoint != nil
            && new.key.path.endpoint == nil && current.peerTerms?.run == new.peerTerms?.run
            && now - association.openedAt < Limits.invitationTimeout
    }

    mutating func close(_ channel: Channel, _ reason: CloseFrame.Reason, _ now: Instant) {
        if channel.seal != nil {
            send(CloseFrame(reason: reason).bytes, on: channel, over: channel.path, now)
        }
        remove(channel)
        if let peer = channel.peer, associations[peer]?.token == channel.token {
            dissociate(peer, now)
        }
    }

    private mutating func closeReceived(_ frame: CloseFrame, on channel: Channel, _ now: Instant) {
        switch channel.stage {
        case .handshaking, .admitting:
            let reason = frame.reason.dropReason
            fail(channel, reason, "the other side refused: \(reason.explanation)", now)
        case .open, .closing:
            remove(channel)
            interpret(invitation.handle(.channelClosed(channel.token), now: now), now)
            if let peer = channel.peer, associations[peer]?.token == channel.token {
                dissociate(peer, now)
            }
        }
    }

    /// The peer is gone: its hop, its session and its state in the tie-break.
    mutating func dissociate(_ peer: PeerID, _ now: Instant) {
        guard associations.removeValue(forKey: peer) != nil else { return }
        if neighbours[peer] != nil { neighbourLost(peer, now) }
        peersByShortID[peer.short] = nil
        tell(.peer(peer, .notConnected))
        announceAddressees(now)
        callAgain(peer, now)
    }

    mutating func channelDeadlineReached(_ token: ChannelToken, _ now: Instant) {
        guard let channel = channels[token] else { return }
        switch channel.stage {
        case .handshaking where now >= channel.patienceEnd:
            fail(channel, .handshakeTimeout, "no keys after \(now - channel.startedAt)", now)
        case .handshaking:
            tryNextAddress(channel, now)
            channel.handshake?.deadlineReached(now: now)
            drive(channel, now)
        case .admitting: advance(channel, .deadlineReached, now)
        case .open: break
        case .closing(let at): if now >= at { remove(channel) }
        }
    }

    /// A frame for a channel that we do not have: its sender believes in a peer that restarted. It
    /// is told: over a link by a nudge, over the mesh each in its turn.
    private mutating func unknownChannel(_ index: UInt32, from path: Path, _ now: Instant) {
        switch path {
        case .link(let endpoint):
            nudge(endpoint, attempt: nil, now)
        case .mesh(let source):
            guard mayHint(source, now) else { return }
            originate(UnknownChannelHint(index: index).bytes, to: source, .control, now)
        }
    }

    private mutating func mayHint(_ source: ShortID, _ now: Instant) -> Bool {
        if let last = hintedAt[source], now - last < Limits.hintInterval { return false }
        if hintedAt.count >= Limits.channelsMax {
            hintedAt = hintedAt.filter { now - $0.value < Limits.hintInterval }
        }
        guard hintedAt.count < Limits.channelsMax else { return false }
        hintedAt[source] = now
        return true
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
    /// Between two answers to one node's frames for channels that we do not have.
    static let hintInterval = Duration.milliseconds(500)
    public static let invitationTimeout = Duration.seconds(30)
}

extension Frame.Refusal {
    var reason: DropReason {
        switch self {
        case .unknownKind: .frameUnknownType
        case .malformed(.routing): .routingMalformed
        case .malformed(.packet): .packetMalformed
        case .malformed(.segment), .malformed(.acknowledgement): .messageMalformed
        case .malformed: .frameMalformed
        }
    }
}
