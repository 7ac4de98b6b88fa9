import NearbyCore
import NearbyGroups
import NearbyLinux
import NearbyWire

/// What the program wants.
extension Station {
    func carryOut(_ command: Command) {
        let now = MonotonicClock.now()
        isCarryingOut = true
        switch command {
        case .send, .write, .read, .goOn: break
        default: isGroupChanged = true
        }
        if command.begins || command.usesSession {
            nodes.prefer(Background.shared.preference(of: own.peer.id), now)
        }
        do throws(NearbyError) {
            try carryOut(command, now)
        } catch {
            command.fail(error)
        }
        isCarryingOut = false
        settle(now)
    }

    private func carryOut(_ command: Command, _ now: Instant) throws(NearbyError) {
        switch command {
        case .advertise(let advertised, let isStarted):
            try advertise(advertised, isStarted, now)
        case .browse(let browsed, let isStarted): try browse(browsed, isStarted, now)
        case .lookUp(let browsed, let reply): reply.resolve(.success(lookUp(browsed, now)))
        case .invite(let invitation, let reply): try invite(invitation, reply, now)
        case .answer(let id, let session, _): try answer(id, session, now)
        case .cancel(let peer, let session, let unlessAwaited):
            cancel(peer, session.number, unlessAwaited, now)
        case .decide(let peer, let session, let isAccepted):
            tellGroup(.decide(peer, session.number, isAccepted: isAccepted), now)
        case .send(let bytes, let peers, let session, let isReliable):
            send(bytes, to: peers, session, isReliable, now)
        case .connectionData(let session, let reply):
            reply.resolve(.success(try connectionData(session, now)))
        case .connect(let peer, let data, let session, let reply):
            try connect(peer, data, session, reply, now)
        case .openStream(let pipe): try transfers.openStream(pipe, now)
        case .write(let pipe): transfers.write(pipe, now)
        case .read(let pipe): transfers.read(pipe, now)
        case .sendFile(let file): try transfers.offer(file, now)
        case .cancelTransfer(let state): transfers.cancel(state, now)
        case .useCollectors(let linked, let isStarted): try useCollectors(linked, isStarted, now)
        case .tellCollector(let bytes, let peer, let linked, let isReliable):
            linked.taken()
            nodes[linked.service]?.send(bytes, to: peer, isReliable: isReliable, now)
        case .goOn(let session):
            session.takeHeldBack().forEach { tellGroup(.hold($0, session.number, false), now) }
        case .disconnect(let session): leave(session, renamed: randomID, now)
        case .close(let session): leave(session, renamed: nil, now)
        }
    }

    // MARK: Discovery

    private func advertise(
        _ advertised: Advertised, _ isStarted: Bool, _ now: Instant
    ) throws(NearbyError) {
        advertisers.removeAll { $0 === advertised }
        if isStarted {
            _ = try nodes.make(advertised.service, advertising: advertised.info, now)
            advertisers.append(advertised)
        }
        // Of several with one service the latest counts.
        let info = advertisers.last { $0.service == advertised.service }?.info
        nodes[advertised.service]?.advertise(info, now)
    }

    private func browse(_ browsed: Browsed, _ isStarted: Bool, _ now: Instant) throws(NearbyError) {
        guard isStarted else {
            browsers.removeAll { $0.browsed === browsed }
            return nodes.endLookUps(isOver: browsers.isEmpty, now)
        }
        guard !browsers.contains(where: { $0.browsed === browsed }) else { return }
        let node = try nodes.make(browsed.service, now)
        let view = BrowserView(browsed)
        browsers.append(view)
        for (_, sighting) in node.sightings.sorted(by: { $0.key < $1.key }) {
            view.tell(sighting)
        }
    }

    private func lookUp(_ browsed: Browsed, _ now: Instant) -> [Peer] {
        nodes.lookUp(browsed.service, now).map { found in
            names.learn(found.peer, found.name)
            return names.peer(found.peer)
        }
    }

    private func useCollectors(
        _ linked: LinkedCollectors, _ isStarted: Bool, _ now: Instant
    ) throws(NearbyError) {
        guard isStarted else { return collectors.remove(linked) }
        guard !collectors.contains(linked) else { return }
        collectors.add(linked, at: try nodes.make(linked.service, now), names)
    }

    // MARK: Sessions

    /// Opens the session with the group if that is not done.
    private func use(_ session: OpenedSession, _ now: Instant) throws(NearbyError) {
        guard sessions[session.number] == nil else { return }
        if sessions.count >= Limits.sessionsMax { closeUnusedSessions(now) }
        isGroupChanged = true
        sessions[session.number] = session
        tellGroup(.open(session.number, randomID, session.terms), now)
        guard group.status.id(of: session.number) != nil else {
            sessions[session.number] = nil
            throw NearbyError(
                .unavailable,
                "a peer has at most \(Limits.sessionsMax) sessions with members: leave some")
        }
    }

    private func closeUnusedSessions(_ now: Instant) {
        for number in sessions.keys.sorted()
        where !group.status.isActive(number) && !offered.contains(number) {
            tellGroup(.close(number), now)
            sessions[number] = nil
        }
    }

    private var randomID: SessionID {
        var random = SystemRandomNumberGenerator()
        return SessionID(value: random.next())
    }

    private func invite(
        _ invitation: OwnInvitation, _ reply: Reply<Void>?, _ now: Instant
    ) throws(NearbyError) {
        let (peer, number) = (invitation.peer.id, invitation.session.number)
        try begin(invitation.peer, invitation.session, now)
        _ = try nodes.make(invitation.service, now)
        // A peer that counts as connected may no longer be: it is invited all the same.
        _ = wait(for: peer, number, reply)
        tellGroup(
            .invite(
                peer, into: number, context: invitation.context, timeout: invitation.timeout), now)
    }

    private func connect(
        _ peer: Peer, _ data: ConnectionData, _ session: OpenedSession, _ reply: Reply<Void>?,
        _ now: Instant
    ) throws(NearbyError) {
        try begin(peer, session, now)
        let node = try nodes.make(.direct, now)
        node.tryPeer(peer.id, at: data.addresses, now)
        guard wait(for: peer.id, session.number, reply) else { return }
        tellGroup(.connect(peer.id, data.session, from: session.number), now)
    }

    private func begin(
        _ peer: Peer, _ session: OpenedSession, _ now: Instant
    ) throws(NearbyError) {
        guard peer != own.peer else {
            throw NearbyError(.invalidParameter, "\(peer) cannot be connected with itself")
        }
        names.learn(peer.id, peer.displayName)
        try use(session, now)
    }

    /// All who ask get the outcome of what is open then. Who does not wait for it counts as well:
    /// when a task that waits is cancelled, another's invitation is not withdrawn.
    ///
    /// - Returns: whether there is something to wait for: the peer is not connected yet.
    private func wait(
        for peer: PeerID, _ number: SessionNumber, _ reply: Reply<Void>?
    ) -> Bool {
        if group.status.connected(in: number).contains(peer) {
            reply?.succeed()
            return false
        }
        let key = Awaited(session: number, peer: peer)
        if reply != nil || awaited[key]?.contains(where: { $0 == nil }) != true {
            awaited[key, default: []].append(reply)
        }
        return true
    }

    private func answer(
        _ id: InvitationID, _ session: OpenedSession?, _ now: Instant
    ) throws(NearbyError) {
        invitations[id] = nil
        if let session {
            do throws(NearbyError) {
                try use(session, now)
            } catch {
                tellGroup(.answer(id, with: nil), now)
                session.events.push(.failure(names.peer(id.peer), error), .news)
                return session.set(.notConnected, of: names.peer(id.peer))
            }
        }
        tellGroup(.answer(id, with: session?.number), now)
    }

    private func cancel(
        _ peer: PeerID, _ number: SessionNumber, _ unlessAwaited: Bool, _ now: Instant
    ) {
        let key = Awaited(session: number, peer: peer)
        if unlessAwaited {
            awaited[key]?.removeAll { $0?.isResolved == true }
            if awaited[key]?.isEmpty == false { return }
        }
        tellGroup(.cancel(peer, number), now)
        if !unlessAwaited { tellGroup(.expel(peer, number), now) }
        finish(key, .failure(.cancelled))
        nodes[.direct]?.forget(peer, now)
    }

    private func send(
        _ bytes: [UInt8], to peers: [PeerID], _ session: OpenedSession, _ isReliable: Bool,
        _ now: Instant
    ) {
        session.room.taken(bytes.count, for: peers, isReliable: isReliable)
        tellGroup(.send(bytes, to: peers, session.number, isReliable: isReliable), now)
    }

    private func leave(_ session: OpenedSession, renamed name: SessionID?, _ now: Instant) {
        offered.remove(session.number)
        guard sessions[session.number] != nil else { return }
        tellGroup(name.map { .leave(session.number, renamed: $0) } ?? .close(session.number), now)
        for key in awaited.keys where key.session == session.number {
            finish(key, .failure(NearbyError(.cancelled, "the session was left")))
        }
        if name == nil { sessions[session.number] = nil }
    }

    private func connectionData(
        _ session: OpenedSession, _ now: Instant
    ) throws(NearbyError) -> [UInt8] {
        try use(session, now)
        let ticket = try nodes.make(.direct, now).ticket
        guard !ticket.addresses.isEmpty, let id = group.status.id(of: session.number) else {
            throw NearbyError(.unavailable, "no network link is in use: connect one")
        }
        offered.insert(session.number)
        return ConnectionData.bytes(of: id, ticket)
    }

    // MARK: Who waits

    func finish(_ key: Awaited, _ outcome: Result<Void, NearbyError>) {
        for reply in awaited.removeValue(forKey: key) ?? [] { reply?.resolve(outcome) }
    }
}
