import NearbyCore
import NearbyWire

/// The links under a channel: which are proved, and which one its frames take.
extension Node {
    func way(to endpoint: Endpoint) -> LinkWay {
        LinkWay(endpoint: endpoint, linkClass: links[endpoint.link] ?? .ethernet)
    }

    /// A frame of a neighbour came from there.
    mutating func heard(_ neighbour: Neighbour, at endpoint: Endpoint, _ now: Instant) {
        let input = LinkChoice.Input.heard(way(to: endpoint))
        interpret(neighbour.ways.handle(input, now: now), of: neighbour, now)
    }

    /// It probes a link that we do not use: the answer takes the same way back.
    mutating func probed(by neighbour: Neighbour, at endpoint: Endpoint, _ now: Instant) {
        let input = LinkChoice.Input.probed(way(to: endpoint))
        interpret(neighbour.ways.handle(input, now: now), of: neighbour, now)
        guard neighbour.endpoint != endpoint,
            let channel = associations[neighbour.peer].flatMap({ channels[$0.token] })
        else { return }
        send(LivenessFrame.answer.bytes, on: channel, over: .link(endpoint), now)
    }

    /// Tells what discovery knows now of a neighbour's addresses.
    mutating func considerWays(to neighbour: Neighbour, _ now: Instant) {
        let endpoints = discovery.sighting(of: neighbour.peer)?.endpoints ?? []
        let ways = endpoints.filter { links[$0.link] != nil }.map(way)
        interpret(neighbour.ways.handle(.candidates(ways), now: now), of: neighbour, now)
    }

    mutating func interpret(
        _ steps: [LinkChoice.Output], of neighbour: Neighbour, _ now: Instant
    ) {
        let peer = neighbour.peer
        for step in steps {
            switch step {
            case .challenge(let endpoint):
                guard let channel = associations[peer].flatMap({ channels[$0.token] }) else {
                    continue
                }
                challenge(channel, at: endpoint, now)
            case .use(let way): moved(neighbour, to: way, now)
            case .lost: neighbourLost(peer, now)
            }
        }
    }

    /// The channel stays, and with it what waits; the cost is that of the new link.
    private mutating func moved(_ neighbour: Neighbour, to way: LinkWay, _ now: Instant) {
        neighbour.liveness = LivenessMachine(
            linkClass: way.linkClass, seed: random.next(), now: now)
        if let channel = associations[neighbour.peer].flatMap({ channels[$0.token] }) {
            channel.path = .link(way.endpoint)
        }
        tell(.notice(.neighbourMoved(neighbour.peer, name: neighbour.name, at: way.endpoint)))
        let cost = neighbour.liveness.cost
        interpret(routing.handle(.costChanged(neighbour.peer, cost), now: now), now)
    }

    // MARK: Challenges

    /// Asks whether the other side of a channel answers at an address; not more than once in 200
    /// ms at one.
    mutating func challenge(_ channel: Channel, at endpoint: Endpoint, _ now: Instant) {
        guard channel.stage == .open, let association = association(over: channel),
            !association.probes.wasJustAsked(at: endpoint, now: now)
        else { return }
        let question = association.probes.ask(at: endpoint, token: random.next(), now: now)
        send(question.bytes, on: channel, over: .link(endpoint), now)
    }

    mutating func challengeElsewhere(_ peer: PeerID, except lost: Endpoint, _ now: Instant) {
        guard let token = associations[peer]?.token, let channel = channels[token] else { return }
        for other in reachable(peer) where other != lost { challenge(channel, at: other, now) }
    }

    mutating func pathResponse(
        _ frame: PathFrame, on channel: Channel, from path: Path, _ now: Instant
    ) {
        // Over the mesh the answer has said all by having come.
        if path.endpoint == nil { return }
        guard let association = association(over: channel),
            let endpoint = association.probes.answered(frame.token)
        else { return drops.count(.frameUnknownType) }
        let peer = association.peer
        interpret(invitation.handle(.answered(channel.token), now: now), now)
        guard links[endpoint.link] != nil || endpoint.link.value == 0 else { return }
        let isNew = neighbours[peer] == nil
        if isNew, invitation.isFull, resumptions[peer] == nil {
            return close(channel, .dropped, now)
        }
        if isNew { channel.path = .link(endpoint) }
        adopt(peer, at: endpoint, channel, now)
        if isNew, let terms = channel.peerTerms {
            interpret(
                invitation.handle(
                    .admitted(
                        channel.token, peer: peer, run: terms.run, attempt: channel.attemptNumber,
                        weAreClient: channel.isClient),
                    now: now), now)
        }
    }
}
