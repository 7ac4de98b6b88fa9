import NearbyCore
import NearbyEngine
import NearbyGroups
import NearbyLinux
import NearbyTransfers
import NearbyWire

/// What nodes and sessions tell.
extension Station {
    // MARK: Nodes

    func interpret(_ event: Node.Event, of node: ServiceNode, _ now: Instant) {
        switch event {
        case .application(.sighted(let sighting)):
            node.sighted(sighting, now)
            names.learn(sighting.peer, sighting.name)
            for view in browsers where view.browsed.service == node.service {
                view.tell(sighting)
            }
        case .application(.vanished(let peer)):
            node.sightings[peer] = nil
            for view in browsers where view.browsed.service == node.service { view.lose(peer) }
        case .application(.channel(let peer, let run, let isEncrypted)):
            node.channels[peer] = .init(run: run, isEncrypted: isEncrypted)
            names.learn(peer, node.node.name(of: peer))
            for key in unnamed where key.peer == peer { tellConnecting(key) }
            carrierFound(peer, at: node, now)
            for view in browsers where view.browsed.service == node.service {
                view.connected(peer, run)
            }
        case .application(.refused(let peer, let cause)): refused(peer, cause, now)
        case .peer(let peer, .notConnected): carrierLost(peer, of: node, now)
        case .message(let bytes, let peer, let isReliable, _):
            if collectors.take(bytes, peer, node, names) { return }
            guard nodes.carriers[peer]?.node === node else { return }
            if bytes.first == TransferPacket.tag {
                return transfers.received(bytes, from: peer, now)
            }
            tellGroup(.received(bytes, from: peer, isReliable: isReliable), now)
        case .diagnostic(.neighbourMoved(let peer, _, _)),
            .diagnostic(.neighbourUp(let peer, _, _)),
            .diagnostic(.neighbourLost(let peer, _)):
            transfers.tell(peer, .pathChanged, now)
        case .collector, .viewers: collectors.addresseesChanged(event, of: node, names)
        case .peer, .diagnostic, .echo: break
        }
    }

    private func carrierFound(_ peer: PeerID, at node: ServiceNode, _ now: Instant) {
        let change = nodes.carrierFound(peer, at: node)
        guard change != .none, let carrier = nodes.carriers[peer] else { return }
        isGroupChanged = true
        if change != .encryption { transfers.returned(peer, carrier.runs, now) }
        switch change {
        case .found: tellGroup(.reachable(peer, isEncrypted: carrier.isEncrypted), now)
        case .restarted: tellGroup(.restarted(peer, isEncrypted: carrier.isEncrypted), now)
        case .encryption:
            tellGroup(.encryptionChanged(peer, isEncrypted: carrier.isEncrypted), now)
        case .none: break
        }
    }

    func carrierLost(_ peer: PeerID, of node: ServiceNode, _ now: Instant) {
        guard nodes.carrierLost(peer, of: node) else { return }
        isGroupChanged = true
        Background.shared.room(of: own.peer.id)?.lost(peer)
        transfers.tell(peer, .unreachable, now)
        tellGroup(.unreachable(peer), now)
        if let other = nodes.all.first(where: { $0.channels[peer] != nil }) {
            carrierFound(peer, at: other, now)
        }
    }

    /// As long as the settings are what they are, nothing comes of an invitation.
    private func refused(_ id: PeerID, _ cause: RefusedNode.Cause, _ now: Instant) {
        guard nodes.carriers[id] == nil else { return }
        let peer = names.peer(id)
        let text =
            switch cause {
            case .encryption: "one side requires encryption, and the other refuses it"
            case .version: "it runs another version: update the older one"
            default: "it does not have what the network asks for (\(cause.rawValue))"
            }
        let error = NearbyError(.unavailable, "\(peer) cannot be connected: \(text)")
        for number in sessions.keys.sorted() {
            let key = Awaited(session: number, peer: id)
            guard group.status.isInviting(id, into: number) || awaited[key] != nil else { continue }
            sessions[number]?.events.push(.failure(peer, error), .news)
            finish(key, .failure(error))
            tellGroup(.cancel(id, number), now)
        }
    }

    // MARK: Sessions

    func tellGroup(_ input: GroupInput, _ now: Instant) {
        for output in group.handle(input, now: now) {
            switch output {
            case .sendReliable(let bytes, let peer):
                nodes.send(bytes, to: peer, isReliable: true, now)
            case .sendUnreliable(let bytes, let peer):
                nodes.send(bytes, to: peer, isReliable: false, now)
            case .dial(let peer): nodes.dial(peer, now)
            case .event(let event): interpret(event, now)
            case .drop(let reason): count(reason)
            }
        }
    }

    private func interpret(_ event: GroupEvent, _ now: Instant) {
        if case .message = event {} else { isGroupChanged = true }
        switch event {
        case .state(let peer, let number, let state): changed(peer, number, state, now)
        case .invited(let id, let context): invited(id, context, now)
        case .withdrawn(let id): invitations.removeValue(forKey: id)?.invitation?.withdraw()
        case .declined(let peer, let number, let refusal):
            let error = NearbyError(refusal, of: names.peer(peer), late: timeoutText(peer))
            sessions[number]?.events.push(.failure(names.peer(peer), error), .news)
            finish(Awaited(session: number, peer: peer), .failure(error))
        case .certificates(let chain, let peer, let number): judge(chain, of: peer, number)
        case .message(let bytes, let peer, let number, let isReliable):
            received(bytes, from: peer, number, isReliable, now)
        case .held(let peer, let number, let isHeld):
            sessions[number]?.room.hold(peer, in: number, isHeld)
        }
    }

    private func changed(
        _ id: PeerID, _ number: SessionNumber, _ state: GroupMemberState, _ now: Instant
    ) {
        let peer = names.peer(id)
        let key = Awaited(session: number, peer: id)
        switch state {
        case .connecting:
            nodes.dial(id, now)
            unnamed.insert(key)
            if names.knows(id) { tellConnecting(key) }
        case .connected:
            tellConnecting(key)
            sessions[number]?.set(.connected, of: peer)
            finish(key, .success(()))
            transfers.memberConnected(id, number, now)
        case .notConnected:
            // Who was never named has not been heard of.
            if unnamed.remove(key) == nil { sessions[number]?.set(.notConnected, of: peer) }
            // A peer that has restarted has been invited again.
            if !group.status.isInviting(id, into: number) {
                finish(key, .failure(NearbyError(.notConnected, "\(peer) was not connected")))
            }
            if !group.status.isMember(id, of: number) { transfers.memberLeft(id, number, now) }
        }
    }

    private func tellConnecting(_ key: Awaited) {
        guard unnamed.remove(key) != nil else { return }
        sessions[key.session]?.set(.connecting, of: names.peer(key.peer))
    }

    /// For the advertisers of the service over which it came.
    private func invited(_ id: InvitationID, _ context: [UInt8], _ now: Instant) {
        let service = nodes.carriers[id.peer]?.node.service
        let advertised = advertisers.last { $0.service == service } ?? advertisers.last
        let invitation = Invitation(
            id, from: names.peer(id.peer), context: context, to: own)
        guard let advertised, advertised.invitations.push(invitation) else {
            // Nobody takes it: letting it go declines it.
            return
        }
        invitations[id] = WeakInvitation(invitation: invitation)
    }

    private func judge(_ chain: [[UInt8]], of peer: PeerID, _ number: SessionNumber) {
        guard let session = sessions[number], let handler = session.certificateHandler else {
            return
        }
        let named = names.peer(peer)
        Task {
            let isAccepted = await handler(chain, named)
            Background.shared.postIfRunning(.decide(peer, session, isAccepted: isAccepted))
        }
    }

    /// A member whose reliable messages the program does not take is asked to wait, and has to go
    /// if it sends more and more all the same: they may not pile up.
    private func received(
        _ bytes: [UInt8], from id: PeerID, _ number: SessionNumber, _ isReliable: Bool,
        _ now: Instant
    ) {
        transfers.messagePassed(now)
        switch sessions[number]?.received(bytes, from: names.peer(id), isReliable) {
        case .slow: tellGroup(.hold(id, number, true), now)
        case .full: tellGroup(.expel(id, number), now)
        case .taken, nil: break
        }
    }

    /// Whether we could reach it at all says most.
    private func timeoutText(_ id: PeerID) -> String {
        let peer = names.peer(id)
        if nodes.carriers[id] != nil { return "\(peer) did not answer in time" }
        let refusal = nodes.all.lazy.compactMap { $0.node.refusal(of: id) }.first
        let reason = refusal.map { ": \($0.cause)" } ?? ""
        return "\(peer) could not be reached\(reason)"
    }
}
