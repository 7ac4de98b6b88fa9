import NearbyCore
import NearbyWire

/// What becomes of channels: who is let in, which one of a pair is in use, and how they end.
extension Node {
    func perform(_ output: ChannelMachine.Output, _ now: Instant) {
        switch output {
        case .transmit(let datagram, let path):
            outbox.transmit(datagram, over: path, seeing: view(toward: path.node))
        case .connecting(let peer):
            if peers[peer] == nil, peer != own { outbox.add(.peer(peer, .connecting)) }
        case .notBegun(let peer, let path, let attempt):
            if path.endpoint != nil, peer != own { tellInvitation(.failed(peer, attempt), now) }
        case .progress(let peer, let attempt): tellInvitation(.progress(peer, attempt), now)
        case .handshakeSeen(let seen):
            tellInvitation(
                .handshakeSeen(from: seen.peer, run: seen.run, attempt: seen.attempt), now)
        case .keyed(let channel):
            let isShortcut = channel.peer.map(rendezvous.invitation.isShortcut) ?? false
            tellChannels(.admit(channel, isShortcut: isShortcut), now)
        case .invited(let channel): tellRendezvous(.asked(on: channel), now)
        case .opened(let channel): opened(channel, now)
        case .declined(let channel, let decision):
            tellRendezvous(.declined(channel, decision), now)
        case .failed(let channel, let reason, let text):
            tellRendezvous(.failed(channel, reason, text: text), now)
            if let peer = channel.peer ?? channel.expectedPeer {
                tellApplication(.refused(peer, reason), now)
            }
        case .diagnostic(let diagnostic): outbox.add(.diagnostic(diagnostic))
        case .closed(let channel, let byPeer):
            tell(.closed(channel), now)
            if byPeer { tellInvitation(.channelClosed(channel.token), now) }
        case .ownIdentity(let endpoint): outbox.add(.diagnostic(.ownIdentityElsewhere(endpoint)))
        case .hint(let hint, let source):
            outbox.originate(hint, to: source, .control, seeing: view(toward: source))
        case .drop(let reason): outbox.drop(reason)
        case .drops(let counters): outbox.add(counters)
        }
    }

    func channelDeadlineReached(_ channel: PeerChannel, _ now: Instant) {
        let peer = channel.isClient && !channel.isAnswered ? channel.expectedPeer : nil
        let endpoints = peer.map { links.reachable(rendezvous.endpoints(of: $0)) } ?? []
        tellChannels(.deadlineReached(channel.token, reachable: endpoints), now)
    }

    // MARK: Admission

    private func opened(_ channel: PeerChannel, _ now: Instant) {
        guard let peer = channel.peer, let terms = channel.peerTerms else { return }
        tellRendezvous(.opened(peer), now)
        tellMesh(.admitted(peer, terms), now)
        guard channel.path.endpoint != nil else { return use(channel, now) }
        tellInvitation(.admitted(channel, terms, by: peer), now)
    }

    /// From now on the peer's traffic goes over this channel.
    func use(_ channel: PeerChannel, _ now: Instant) {
        guard let peer = channel.peer else { return }
        let nextHop = mesh.routing.nextHop(to: peer.short)
        tell(.use(channel, nextHop: nextHop, renewedAt: mesh.addressees.renewedAt(peer)), now)
    }

    // MARK: Frames for channels that we do not have

    /// Its sender believes in a peer that restarted. It is told: over a link by a nudge, over the
    /// mesh each in its turn.
    func unknownChannel(_ index: UInt32, from path: Path, _ now: Instant) {
        switch path {
        case .link(let endpoint): tellRendezvous(.unknownChannel(at: endpoint), now)
        case .mesh(let source): tellChannels(.unknownChannel(index: index, from: source), now)
        }
    }

    /// An addressee does not know our channel.
    func unknownChannelHint(_ bytes: [UInt8], from path: Path, _ now: Instant) {
        guard case .mesh(let source) = path, let hint = try? UnknownChannelHint(parsing: bytes[...])
        else { return outbox.drop(.frameMalformed) }
        guard let peer = peers.holder(of: source) else { return }
        guard peers[peer]?.channel.seal?.remoteIndex == hint.index else { return }
        tellMesh(.addressees(.channelUnknown(peer)), now)
    }
}
