import NearbyCore
import NearbyWire

/// All channels of a node: handshakes, admission, seals. It owns them from the first datagram until
/// they are closed; which of several with one peer is in use is not its business.
struct ChannelMachine {
    enum Input {
        /// Begin a handshake with a peer. `nonce` tells its datagrams from those of others.
        case invite(PeerID, over: Path, attempt: UInt16, nonce: UInt32)
        /// A datagram of a handshake: records in an envelope, or bare ones on a link.
        case handshake([UInt8], Arrival, isBare: Bool)
        /// Our attempts with this peer under this number are not wanted any more.
        case abandon(PeerID, attempt: UInt16)
        /// Nor are our handshakes over the mesh with this peer.
        case abandonDials(to: PeerID)
        /// Whether channels that are begun from now on are to be encrypted.
        case prefer(EncryptionPreference)
        /// The handshake is finished: say what we are.
        case admit(PeerChannel, isShortcut: Bool)
        /// A frame of the admission.
        case admission(AdmissionMachine.Input, PeerChannel)
        /// Begin one beside the channel that there is, unless one is answered already.
        case renew(PeerID, over: Path, attempt: UInt16, nonce: UInt32)
        case close(PeerChannel, CloseFrame.Reason)
        /// Only opens what is under way, until then.
        case keepForOpening(ChannelToken, until: Instant)
        /// A sealed datagram came out of the mesh for a channel that we do not have.
        case unknownChannel(index: UInt32, from: ShortID)
        case closeReceived(CloseFrame, PeerChannel)
        /// What to add to our time to have the time since 1970 UTC; nil while that is not known.
        case clock(unixOffset: Duration?)
        case deadlineReached(ChannelToken, reachable: [Endpoint])
    }

    enum Output {
        case transmit([UInt8], over: Path)
        case connecting(PeerID)
        /// There is no room for the handshake.
        case notBegun(PeerID, over: Path, attempt: UInt16)
        /// Our handshake with a peer moved.
        case progress(PeerID, attempt: UInt16)
        /// Another began one, unproved.
        case handshakeSeen(HandshakeEnvelope.Introduction)
        /// The handshake is finished: an `.admit` is wanted.
        case keyed(PeerChannel)
        /// The peer wants to be let in: an `.admission(.decide…)` is wanted.
        case invited(PeerChannel)
        case opened(PeerChannel)
        /// The channel is gone.
        case declined(PeerChannel, DecisionFrame)
        /// The channel is gone, and the attempt with it.
        case failed(PeerChannel, DropReason, String)
        /// What a person should read, besides what becomes of channels.
        case diagnostic(NodeDiagnostic)
        /// The open channel is gone.
        case closed(PeerChannel, byPeer: Bool)
        /// Somebody there has proved our own key.
        case ownIdentity(at: Endpoint)
        /// For whoever believes in a channel that we do not have.
        case hint([UInt8], to: ShortID)
        case drop(DropReason)
        case drops(DropCounters)
    }

    /// What became of a sealed datagram.
    enum Opened {
        case frame(ArraySlice<UInt8>, PeerChannel, SealedHeader)
        case unknownChannel(index: UInt32)
        case refused(DropReason)
        /// Of a channel without keys.
        case early
    }

    let own: PeerID
    /// What every peer is told of us.
    private(set) var terms: AdmissionTerms
    let cryptography: any Cryptography
    /// Others call us over the mesh.
    let isDialed: Bool
    private var table: PeerChannelTable
    /// SHA-256 of the secrets of handshakes in which our own key was shown to us as server.
    private var ownKeySecrets: [[UInt8]] = []
    private var unknownChannels = UnknownChannels()
    /// Added to our time it is the time since 1970 UTC; nil while that is not known.
    private var unixOffset: Duration?

    init(
        terms: AdmissionTerms, cryptography: any Cryptography, isDialed: Bool, timers: NodeTimers
    ) {
        own = cryptography.ownPeer
        self.terms = terms
        self.cryptography = cryptography
        self.isDialed = isDialed
        table = PeerChannelTable(
            inboundLimit: isDialed ? Limits.collectorHandshakesMax : Limits.agentHandshakesMax,
            timers: timers)
    }

    /// - Parameter hasRoute: whether we have a route to a collector.
    mutating func handle(
        _ input: Input, peers: Peers, discovery: DiscoveryMachine, routing: RoutingMachine,
        hasRoute: Bool, now: Instant
    ) -> [Output] {
        switch input {
        case .invite(let peer, let path, let attempt, let nonce):
            return invite(peer, over: path, attempt, nonce, now)
        case .handshake(let datagram, let arrival, let isBare):
            return received(datagram, arrival, isBare: isBare, discovery, routing, now)
        case .abandon(let peer, let attempt):
            for channel in attempts(with: peer, number: attempt) { table.remove(channel) }
            return []
        case .abandonDials(let peer):
            abandonDials(to: peer)
            return []
        case .prefer(let preference):
            terms.preference = preference
            return []
        case .admit(let channel, let isShortcut):
            return admit(channel, peers, hasRoute: hasRoute, isShortcut: isShortcut, now)
        case .admission(let input, let channel): return advance(channel, input, now)
        case .renew(let peer, let path, let attempt, let nonce):
            let begun = attempts(with: peer, number: attempt)
            for channel in begun where !channel.isAnswered { table.remove(channel) }
            guard begun.allSatisfy({ !$0.isAnswered }) else { return [] }
            return invite(peer, over: path, attempt, nonce, now)
        case .close(let channel, let reason): return close(channel, reason)
        case .keepForOpening(let token, let until):
            table[token]?.stage = .closing(at: until)
            return []
        case .unknownChannel(let index, let source):
            guard unknownChannels.mayHint(source, now: now) else { return [] }
            return [.hint(UnknownChannelHint(index: index).bytes, to: source)]
        case .closeReceived(let frame, let channel):
            guard !channel.isAttempt else {
                let reason = frame.reason.dropReason
                return fail(channel, reason, "the other side refused: \(frame.reason.explanation)")
            }
            table.remove(channel)
            return [.closed(channel, byPeer: true)]
        case .clock(let offset):
            unixOffset = offset
            return checkDates(now)
        case .deadlineReached(let token, let reachable):
            guard let channel = table[token] else { return [] }
            return deadlineReached(channel, reachable, now)
        }
    }

    // MARK: What is there

    subscript(token: ChannelToken) -> PeerChannel? { table[token] }

    var count: Int { table.count }

    var inboundCount: Int { table.inbound.count }

    var inboundLimit: Int { table.inbound.limit }

    func count(where isIncluded: (PeerChannel) -> Bool) -> Int { table.count(where: isIncluded) }

    /// Ours with this peer under this number, not yet open.
    @inline(never)
    func attempts(with peer: PeerID, number: UInt16) -> [PeerChannel] {
        handshakes(with: peer).filter { $0.isAttempt && $0.attemptNumber == number }
    }

    /// Ours with this peer, in no particular order.
    @inline(never)
    private func handshakes(with peer: PeerID) -> [PeerChannel] {
        table.filter { $0.isClient && $0.expectedPeer == peer }
    }

    private mutating func abandonDials(to peer: PeerID) {
        for channel in handshakes(with: peer)
        where channel.stage == .handshaking && channel.key.path.endpoint == nil {
            table.remove(channel)
        }
    }

    func channel(of key: PeerChannel.AttemptKey) -> PeerChannel? { table[attempt: key] }

    mutating func remove(_ channel: PeerChannel) { table.remove(channel) }

    /// The peer has proved that it may be here, and said what it is.
    mutating func admitted(_ channel: PeerChannel, _ terms: AdmitFrame, isEncrypted: Bool) {
        channel.peerTerms = terms
        channel.seal?.isEncrypted = isEncrypted
        table.proved(channel)
    }

    // MARK: Sealed frames

    /// Also while it closes, and until its invitation is decided.
    func isAdmitted(_ index: UInt32) -> Bool { table[index: index]?.peerTerms != nil }

    /// Opens a sealed datagram. The first shows that the other side has the keys. Beside `handle`,
    /// as it lends what it opens, which for each frame costs less than an output.
    mutating func open(_ datagram: [UInt8], now: Instant) -> Opened {
        guard let header = try? SealedHeader(parsing: datagram[...]) else {
            return .refused(.frameMalformed)
        }
        guard let channel = table[index: header.index] else {
            return .unknownChannel(index: header.index)
        }
        guard let opened = channel.seal?.open(datagram, header) else { return .early }
        switch opened {
        case .failure(let refusal): return .refused(refusal.reason)
        case .success(let payload):
            // OpenSSL's object may go.
            channel.handshake = nil
            channel.heardAt = now
            return .frame(payload, channel, header)
        }
    }

    // MARK: Handshakes

    private mutating func invite(
        _ peer: PeerID, over path: Path, _ attempt: UInt16, _ nonce: UInt32, _ now: Instant
    ) -> [Output] {
        guard !table.isFull else {
            return [.drop(.channelTableFull), .notBegun(peer, over: path, attempt: attempt)]
        }
        let key = PeerChannel.AttemptKey(path: path, attempt: nonce, isClient: true)
        let channel = table.add(
            cryptography.makeClient(now: now), key, attemptNumber: attempt, expectedPeer: peer,
            now: now)
        return [.connecting(peer)] + drive(channel, now)
    }

    mutating func received(
        _ records: ArraySlice<UInt8>, on channel: PeerChannel, _ now: Instant
    ) -> [Output] {
        channel.answered(now)
        channel.handshake?.receive(records, now: now)
        guard channel.stage == .handshaking, let peer = channel.expectedPeer else {
            return drive(channel, now)
        }
        return [.progress(peer, attempt: channel.attemptNumber)] + drive(channel, now)
    }

    /// Nothing is kept of whoever has not shown by a cookie that the address is his.
    mutating func begun(
        _ records: ArraySlice<UInt8>, _ key: PeerChannel.AttemptKey,
        _ introduction: HandshakeEnvelope.Introduction?, from origin: InboundHandshakes.Origin,
        _ now: Instant
    ) -> [Output] {
        guard !key.isClient else { return [.drop(.handshakeUnknown)] }
        let admission = table.inbound.admission(of: origin, now: now)
        if case .refused(let reason) = admission { return [.drop(reason)] }
        guard !table.isFull else { return [.drop(.handshakeTableFull)] }
        switch cryptography.listen(records, from: cookieSource(key), now: now) {
        case .reply(let reply):
            return [.transmit(envelope(reply, key, introduction: nil), over: key.path)]
        case .dropped(let reason): return [.drop(reason)]
        case .accepted(let handshake):
            var outputs: [Output] = introduction.map { [.handshakeSeen($0)] } ?? []
            if case .inPlaceOf(let token) = admission, let evicted = table[token] {
                outputs.append(.drop(.handshakeEvicted))
                table.remove(evicted)
            }
            let channel = table.addInbound(
                handshake, key, attemptNumber: introduction?.attempt ?? 0, from: origin, now: now)
            return outputs + drive(channel, now)
        }
    }

    /// Sends what the handshake has to send, and goes on when it is finished or has failed.
    private mutating func drive(_ channel: PeerChannel, _ now: Instant) -> [Output] {
        guard let handshake = channel.handshake else { return [] }
        let introduction = HandshakeEnvelope.Introduction(
            peer: own, run: terms.run, attempt: channel.attemptNumber)
        var outputs = handshake.takeOutgoing().map { records in
            Output.transmit(
                envelope(records, channel.key, introduction: introduction), over: channel.key.path)
        }
        outputs.append(.drops(handshake.takeDrops()))
        guard channel.stage == .handshaking else { return outputs }
        switch handshake.state {
        case .running: return outputs
        case .failed(let reason, let text): return outputs + fail(channel, reason, text)
        case .finished(let result): return outputs + finish(channel, result, now)
        }
    }

    private mutating func finish(
        _ channel: PeerChannel, _ result: HandshakeResult, _ now: Instant
    ) -> [Output] {
        guard result.peer != own else { return ownKeyProved(channel, result) }
        if let expected = channel.expectedPeer, expected != result.peer {
            return fail(channel, .handshakeWrongPeer, "\(result.peer) answered for \(expected)")
        }
        guard let keys = ChannelKeys(result.exporter, cryptography) else {
            return fail(channel, .handshakeFailed, "no keying material")
        }
        guard table.set(FrameSeal(keys, isClient: channel.isClient), of: channel, now: now)
        else {
            return fail(channel, .handshakeFailed, "channel index taken")
        }
        channel.peer = result.peer
        channel.certification = result.certification
        channel.stage = .admitting
        channel.binding = Array(keys.admission)
        return [.keyed(channel)]
    }

    /// A handshake in which the other side has proved our own key. Whoever passes our datagrams
    /// back to us makes us prove it to ourselves: then both sides of it are ours, and end with the
    /// same secret, the server's first.
    private mutating func ownKeyProved(
        _ channel: PeerChannel, _ result: HandshakeResult
    ) -> [Output] {
        let secret = cryptography.sha256(result.exporter)
        guard channel.isClient else {
            table.remove(channel)
            if ownKeySecrets.count >= Limits.ownKeySecretsMax { ownKeySecrets.removeFirst() }
            ownKeySecrets.append(secret)
            return [.drop(.handshakeWrongPeer)]
        }
        // Whoever was invited there has not answered: its place is free.
        let failed = fail(channel, .handshakeWrongPeer, "our own key answered")
        guard let endpoint = channel.path.endpoint, !ownKeySecrets.contains(secret) else {
            return failed
        }
        return failed + [.ownIdentity(at: endpoint)]
    }

    // MARK: Dates

    /// Seconds since 1970 UTC.
    func unixTime(_ now: Instant) -> Int64? {
        unixOffset.map { (now + $0 - .zero).components.seconds }
    }

    /// Closes the channels of those whose certificates have run out.
    private mutating func checkDates(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        while let time = unixTime(now), let channel = table.expired(at: time) {
            let reason = DropReason.certificateExpired
            if channel.isAttempt {
                outputs += fail(channel, reason, reason.explanation)
            } else {
                let diagnostic = NodeDiagnostic.refused(
                    channel.peer, reason, at: channel.path.endpoint, text: reason.explanation)
                outputs += [.drop(reason), .diagnostic(diagnostic)]
                outputs += close(channel, .certificateExpired)
            }
        }
        return outputs
    }

    private mutating func deadlineReached(
        _ channel: PeerChannel, _ reachable: [Endpoint], _ now: Instant
    ) -> [Output] {
        switch channel.stage {
        case .handshaking where now >= channel.handshakeDeadline:
            return fail(
                channel, .handshakeTimeout, "no keys after \(now - channel.startedAt)")
        case .handshaking:
            tryNextAddress(channel, reachable, now)
            channel.handshake?.deadlineReached(now: now)
            return drive(channel, now)
        case .admitting: return advance(channel, .deadlineReached, now)
        case .open: return []
        case .closing(let at):
            if now >= at { table.remove(channel) }
            return []
        }
    }

    /// Before anything came back, each repetition tries the next of the peer's addresses: one that
    /// leads nowhere costs no attempt.
    private mutating func tryNextAddress(
        _ channel: PeerChannel, _ reachable: [Endpoint], _ now: Instant
    ) {
        guard channel.isClient, !channel.isAnswered, let endpoint = channel.key.path.endpoint,
            now - channel.startedAt >= Limits.addressTimeout,
            let index = reachable.firstIndex(of: endpoint), reachable.count > 1
        else { return }
        table.move(channel, to: .link(reachable[(index + 1) % reachable.count]))
    }

    /// Forgets a channel that came to nothing. Who used our own name for it is not told of.
    mutating func fail(_ channel: PeerChannel, _ reason: DropReason, _ text: String) -> [Output] {
        table.remove(channel)
        guard channel.expectedPeer != own else { return [.drop(reason)] }
        return [.drop(reason), .failed(channel, reason, text)]
    }

    private func cookieSource(_ key: PeerChannel.AttemptKey) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(contentsOf: key.path.bytes)
        writer.write(key.attempt ?? 0)
        return writer.bytes
    }

    private func envelope(
        _ records: [UInt8], _ key: PeerChannel.AttemptKey,
        introduction: HandshakeEnvelope.Introduction?
    ) -> [UInt8] {
        guard let attempt = key.attempt else { return records }
        return HandshakeEnvelope(
            isFromServer: !key.isClient, attempt: attempt,
            introduction: key.isClient ? introduction : nil, records: records[...]
        ).bytes
    }
}

extension Limits {
    /// Handshakes in which we, as server, were shown our own key: the latest.
    static let ownKeySecretsMax = 8
}
