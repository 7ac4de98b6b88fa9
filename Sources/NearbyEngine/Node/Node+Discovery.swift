import NearbyCore
import NearbyWire

/// Who is found and invited.
extension Node {
    func perform(_ output: RendezvousMachine.Output, _ now: Instant) {
        switch output {
        case .transmit(let transmission): outbox.add(transmission)
        case .invite(let peer, let endpoint, let attempt):
            beginHandshake(with: peer, over: .link(endpoint), attempt: attempt, now)
        case .resume(let peer, let endpoint, let attempt):
            guard let association = peers[peer] else {
                return tellInvitation(.failed(peer, attempt), now)
            }
            tell(.challenge(association.channel, at: endpoint), now)
            tell(association, .resume(attempt: attempt), now)
        case .unreachable(let peer, let attempt): tellInvitation(.failed(peer, attempt), now)
        case .abandon(let peer, let attempt):
            if let association = peers[peer] { tell(association, .abandonResumption, now) }
            tellChannels(.abandon(peer, attempt: attempt), now)
        case .use(let token):
            if let channel = channels[token] { use(channel, now) }
        case .keepForOpening(let token, let until):
            tellChannels(.keepForOpening(token, until: until), now)
        case .close(let token, let reason):
            if let channel = channels[token] { tellChannels(.close(channel, reason), now) }
        case .decided(let token, let decision):
            guard let channel = channels[token] else { return }
            tellChannels(.admission(.decide(decision), channel), now)
        case .probe(let token):
            if let channel = channels[token], let hop = channel.peer.flatMap(peers.neighbour) {
                tell(.challenge(channel, at: hop.endpoint), now)
            }
        case .sighted(let peer, let endpoints): tell(.sighted(peer, endpoints), now)
        case .detectClone(let endpoint):
            beginHandshake(with: own, over: .link(endpoint), attempt: 0, now)
        case .event(let event): outbox.add(event)
        case .drop(let reason): outbox.drop(reason)
        }
    }

    /// Begins a handshake with a peer at one of its addresses, or over the mesh.
    func beginHandshake(with peer: PeerID, over path: Path, attempt: UInt16, _ now: Instant) {
        tellChannels(.invite(peer, over: path, attempt: attempt, nonce: nonce()), now)
    }
}
