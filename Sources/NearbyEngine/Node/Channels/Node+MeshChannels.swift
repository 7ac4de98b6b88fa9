import NearbyCore
import NearbyWire

/// Channels that began over the mesh: who may invite there, how many, and when they end.
extension Node {
    /// Why a handshake that comes out of the mesh is not answered; nil for those that are.
    ///
    /// Agents and relays call collectors and viewers, and nobody calls them. Whoever stands between
    /// can invent callers: each first hop fills a share of the table.
    func refusal(ofHandshakeOver path: Path) -> DropReason? {
        guard case .mesh(let source) = path else { return nil }
        guard configuration.role.collects else { return .invitationOverMesh }
        guard channels.count >= Limits.channelShareMax else { return nil }
        let hop = routing.nextHop(to: source)
        let share = channels.filter { channel in
            guard case .mesh(let other) = channel.key.path else { return false }
            return routing.nextHop(to: other) == hop
        }
        return share.count < Limits.channelShareMax ? nil : .channelShareFull
    }

    /// A peer that is no neighbour and silent is asked whether it is there, and given up if it does
    /// not answer.
    mutating func checkSilence(of association: Association, _ now: Instant) {
        association.silenceCheckAt = now + Limits.meshProbeInterval
        guard let channel = channels[association.token] else { return }
        let due = channel.heardAt + Limits.meshSilenceMax
        if neighbours[association.peer] != nil || now < due {
            association.silenceProbes = 0
            association.silenceCheckAt = max(due, association.silenceCheckAt)
            return
        }
        guard association.silenceProbes < Limits.meshProbesMax else {
            return close(channel, .leaving, now)
        }
        association.silenceProbes += 1
        send(
            PathFrame(isResponse: false, token: random.next()).bytes, on: channel,
            over: .mesh(association.peer.short), now)
    }
}

extension Limits {
    /// Channels over the mesh whose frames leave by the same neighbour: half of all.
    static let channelShareMax = channelsMax / 2
    /// How long nothing may come over a channel through the mesh before its peer is asked.
    static let meshSilenceMax = Duration.seconds(120)
    static let meshProbeInterval = Duration.seconds(10)
    static let meshProbesMax = 3
}
