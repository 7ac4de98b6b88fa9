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
            node.sightings[sighting.peer] = sighting
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
        case .application(.refused(let peer, let cause)): refused(peer, cause, now)
        case .peer(let peer, .notConnected): carrierLost(peer, of: node, now)
        case .message(let bytes, let peer, let isReliable, _):
            if takeFromCollector(bytes, peer, node) { return }
            guard carriers[peer]?.node === node else { return }
            if bytes.first == TransferPacket.tag {
                return transfers.received(bytes, from: peer, now)
            }
            tellGroup(.received(bytes, from: peer, isReliable: isReliable), now)
        case .notice(.neighbourMoved(let peer, _, _)), .notice(.neighbourUp(let peer, _, _)),
            .notice(.neighbourLost(let peer, _)):
            transfers.tell(peer, .pathChanged, now)
        case .collector, .viewers: addresseesChanged(event, of: node)
        case .peer, .notice, .echo: break
        }
    }

    private func carrierFound(_ peer: PeerID, at node: ServiceNode, _ now: Instant) {
        guard let channel = node.channels[peer] else { return }
        let before = carriers[peer]
        // Another service's channel carries it as well.
        if let before, before.node !== node { return }
        carriers[peer] = Carrier(
            node: node, run: channel.run, isEncrypted: channel.isEncrypted)
        isGroupChanged = true
        guard let before else {
            transfers.returned(peer, channel.run, now)
            return tellGroup(.reachable(peer, isEncrypted: channel.isEncrypted), now)
        }
        guard before.run != channel.run || before.isEncrypted != channel.isEncrypted else { return }
        transfers.returned(peer, channel.run, now)
        tellGroup(.restarted(peer, isEncrypted: channel.isEncrypted), now)
    }

    func carrierLost(_ peer: PeerID, of node: ServiceNode, _ now: Instant) {
        node.channels[peer] = nil
        guard carriers[peer]?.node === node else { return }
        carriers[peer] = nil
        isGroupChanged = true
        Background.shared.room(of: own.peer.id)?.lost(peer)
        transfers.tell(peer, .unreachable, now)
        tellGroup(.unreachable(peer), now)
        if let other = nodes.first(where: { $0.channels[peer] != nil }) {
            carrierFound(peer, at: other, now)
        }
    }

    /// As long as the settings are what they are, nothing comes of an invitation.
    private func refused(_ id: PeerID, _ cause: RefusedNode.Cause, _ now: Instant) {
        guard carriers[id] == nil else { return }
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

    /// Channels that no session and no invitation wants any more.
    func releaseCalls(_ now: Instant) {
        for peer in called.sorted() where !group.status.isInvolved(peer) {
            called.remove(peer)
            for node in nodes {
                node.node.handle(.application(.release(peer)), now: now)
                node.forget(peer, now)
            }
        }
    }

    private func call(_ peer: PeerID, _ now: Instant) {
        guard called.insert(peer).inserted else { return }
        for node in nodes { node.node.handle(.application(.call(peer)), now: now) }
    }

    // MARK: Sessions

    func tellGroup(_ input: GroupInput, _ now: Instant) {
        for output in group.handle(input, now: now) {
            switch output {
            case .sendReliable(let bytes, let peer):
                carriers[peer]?.node.node.handle(.sendReliable(bytes, to: peer), now: now)
            case .sendUnreliable(let bytes, let peer):
                carriers[peer]?.node.node.handle(
                    .sendUnreliable(bytes, to: peer, .fresh), now: now)
            case .call(let peer): call(peer, now)
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
        }
    }

    private func changed(
        _ id: PeerID, _ number: SessionNumber, _ state: GroupMemberState, _ now: Instant
    ) {
        let peer = names.peer(id)
        let key = Awaited(session: number, peer: id)
        switch state {
        case .connecting:
            call(id, now)
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
            finish(key, .failure(NearbyError(.notConnected, "\(peer) was not connected")))
            if !group.status.isMember(id, of: number) { transfers.memberLeft(id, number, now) }
        }
    }

    private func tellConnecting(_ key: Awaited) {
        guard unnamed.remove(key) != nil else { return }
        sessions[key.session]?.set(.connecting, of: names.peer(key.peer))
    }

    /// For the advertisers of the service over which it came.
    private func invited(_ id: InvitationID, _ context: [UInt8], _ now: Instant) {
        let service = carriers[id.peer]?.node.service
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

    /// A member whose reliable messages the program does not take has to go: they may not pile up.
    private func received(
        _ bytes: [UInt8], from id: PeerID, _ number: SessionNumber, _ isReliable: Bool,
        _ now: Instant
    ) {
        let peer = names.peer(id)
        let event = Session.Event.message(bytes, from: peer, isReliable: isReliable)
        guard let session = sessions[number],
            !session.events.push(
                event, bytes: bytes.count + 64, isReliable ? .essential : .optional), isReliable
        else { return }
        let error = NearbyError(
            .unavailable,
            "\(peer) was disconnected: its messages piled up; take the session's events faster")
        session.events.push(.failure(peer, error), .news)
        tellGroup(.expel(id, number), now)
    }

    /// Whether we could reach it at all says most.
    private func timeoutText(_ id: PeerID) -> String {
        let peer = names.peer(id)
        if carriers[id] != nil { return "\(peer) did not answer in time" }
        let refusal = nodes.lazy.compactMap { $0.node.refusal(of: id) }.first
        let reason = refusal.map { ": \($0.cause)" } ?? ""
        return "\(peer) could not be reached\(reason)"
    }
}
