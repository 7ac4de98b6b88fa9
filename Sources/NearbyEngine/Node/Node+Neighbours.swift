import NearbyCore
import NearbyWire

/// Neighbours: how they become and cease to be some, and over which links they are addressed.
extension Node {
    func way(to endpoint: Endpoint) -> LinkWay {
        LinkWay(endpoint: endpoint, linkClass: links[endpoint.link] ?? .ethernet)
    }

    mutating func perform(
        _ output: HopMachine.Output, of neighbour: Neighbour, _ now: Instant
    ) {
        let peer = neighbour.peer
        switch output {
        case .send(let payload): enqueue(payload, to: peer, .control, now)
        case .answerProbe(let endpoint):
            if let channel = channel(of: peer) {
                send(LivenessFrame.answer.bytes, on: channel, over: .link(endpoint), now)
            }
        case .ask(let endpoint):
            if let channel = channel(of: peer) { challenge(channel, at: endpoint, now) }
        case .moved(let way):
            // The channel stays, and with it what waits.
            channel(of: peer)?.path = .link(way.endpoint)
            tell(.notice(.neighbourMoved(peer, name: neighbour.name, at: way.endpoint)))
        case .costChanged(let cost): tellRouting(.costChanged(peer, cost), now)
        case .lost: neighbourLost(peer, now)
        }
    }

    /// The channel that carries a peer's traffic.
    private func channel(of peer: PeerID) -> Channel? { peers[peer].flatMap { channels[$0.token] } }

    /// Takes a peer as neighbour at an address where it has shown to answer.
    ///
    /// - Parameter isNew: the channel was just opened there.
    mutating func adopt(
        _ association: Association, at way: LinkWay, isNew: Bool = false, _ now: Instant
    ) {
        let peer = association.peer
        if let neighbour = peers.neighbour(peer) {
            return tell(neighbour, isNew ? .opened(way) : .answered(way), now)
        }
        let hop = HopMachine(way: way, decides: own < peer, seed: random.next(), now: now)
        let neighbour = Neighbour(
            peer: peer, name: association.terms.name, hop: hop, timers: timers)
        peers.add(neighbour)
        association.unreachableSince = nil
        pathChanged(of: association, to: peer, now)
        tell(.notice(.neighbourUp(peer, name: neighbour.name, at: way.endpoint)))
        tellDiscovery(.inUse(peer, true), now)
        tellRouting(.neighbourUp(peer, cost: hop.cost), now)
        considerLinks(to: neighbour, now)
    }

    /// Tells what discovery knows now of a neighbour's addresses.
    mutating func considerLinks(to neighbour: Neighbour, _ now: Instant) {
        let endpoints = discovery.sighting(of: neighbour.peer)?.endpoints ?? []
        let ways = endpoints.filter { links[$0.link] != nil }.map(way)
        tell(neighbour, .candidates(ways), now)
    }

    /// The hop does not answer any more. Its channel stays while the mesh may still reach the peer.
    private mutating func neighbourLost(_ peer: PeerID, _ now: Instant) {
        guard let neighbour = peers.removeNeighbour(peer) else { return }
        lost(neighbour, now)
        guard let association = peers[peer] else { return }
        let hop = routing.nextHop(to: peer.short)
        if hop == nil { association.unreachableSince = now }
        pathChanged(of: association, to: hop, now)
        tellInvitation(.channelClosed(association.token), now)
        guard let channel = channels[association.token] else { return }
        for other in reachable(peer) where other != neighbour.endpoint {
            challenge(channel, at: other, now)
        }
    }

    /// It was removed from the peers.
    mutating func lost(_ neighbour: Neighbour, _ now: Instant) {
        tell(.notice(.neighbourLost(neighbour.peer, name: neighbour.name)))
        tellRouting(.neighbourDown(neighbour.peer), now)
        tellDiscovery(.inUse(neighbour.peer, false), now)
    }

    /// The peer has restarted: what it told is void, and it has to be told everything anew.
    mutating func forgetNeighbour(_ peer: PeerID, _ now: Instant) {
        guard peers.removeNeighbour(peer) != nil else { return }
        tellRouting(.neighbourDown(peer), now)
    }

    // MARK: Questions about paths

    /// Asks whether the other side of a channel answers at an address; not more than once in 200
    /// ms at one.
    mutating func challenge(_ channel: Channel, at endpoint: Endpoint, _ now: Instant) {
        guard channel.stage == .open, let association = peers[over: channel],
            !association.probes.wasJustAsked(at: endpoint, now: now)
        else { return }
        let question = association.probes.ask(at: endpoint, token: random.next(), now: now)
        send(question.bytes, on: channel, over: .link(endpoint), now)
    }

    mutating func pathResponse(
        _ frame: PathFrame, on channel: Channel, from path: Path, _ now: Instant
    ) {
        // Over the mesh the answer has said all by having come.
        if path.endpoint == nil { return }
        guard let association = peers[over: channel],
            let endpoint = association.probes.answered(frame.token)
        else { return drops.count(.frameUnknownType) }
        let peer = association.peer
        tellInvitation(.answered(channel.token), now)
        guard links[endpoint.link] != nil || endpoint.link.value == 0 else { return }
        let isNew = !peers.isNeighbour(peer)
        if isNew, invitation.isFull, association.resumption == nil {
            return close(channel, .dropped, now)
        }
        if isNew { channel.path = .link(endpoint) }
        adopt(association, at: way(to: endpoint), now)
        if isNew { admitted(channel, peer, association.terms, now) }
    }
}
