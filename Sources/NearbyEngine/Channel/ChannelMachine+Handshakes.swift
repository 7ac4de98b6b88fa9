import NearbyCore
import NearbyWire

/// Datagrams of handshakes, from their first byte, and which of them are answered at all.
extension ChannelMachine {
    mutating func received(
        _ datagram: [UInt8], _ arrival: Arrival, isBare: Bool, _ discovery: DiscoveryMachine,
        _ routing: RoutingMachine, _ now: Instant
    ) -> [Output] {
        if isBare {
            guard case .link = arrival.path else { return [.drop(.frameWrongLink)] }
            let key = PeerChannel.AttemptKey(path: arrival.path, attempt: nil, isClient: false)
            return received(
                datagram[...], key, introduction: nil, arrival, discovery, routing, now)
        }
        guard let envelope = try? HandshakeEnvelope(parsing: datagram[...]) else {
            return [.drop(.handshakeMalformed)]
        }
        let key = PeerChannel.AttemptKey(
            path: arrival.path, attempt: envelope.attempt, isClient: envelope.isFromServer)
        return received(
            envelope.records, key, introduction: envelope.introduction, arrival, discovery,
            routing, now)
    }

    @inline(never)
    private mutating func received(
        _ records: ArraySlice<UInt8>, _ key: PeerChannel.AttemptKey,
        introduction: HandshakeEnvelope.Introduction?, _ arrival: Arrival,
        _ discovery: DiscoveryMachine, _ routing: RoutingMachine, _ now: Instant
    ) -> [Output] {
        if let channel = channel(of: key) { return received(records, on: channel, now) }
        var isExpected = false
        if !key.isClient {
            if let reason = refusal(ofHandshakeOver: key.path, routing) {
                return [.drop(reason)]
            }
            // Beacons with proof named where it came from.
            if let peer = introduction?.peer, let endpoint = key.path.endpoint {
                isExpected = discovery.knows(endpoint, of: peer)
            }
        }
        let origin = InboundHandshakes.Origin(
            key.path, firstHop: arrival.firstHop, isExpected: isExpected)
        return begun(records, key, introduction, from: origin, now)
    }

    /// Why a handshake that comes out of the mesh is not answered; nil for those that are.
    ///
    /// Agents and relays call collectors and viewers, and nobody calls them; nodes of applications
    /// call each other. Whoever stands between
    /// can invent callers: each first hop fills a share of the table.
    private func refusal(ofHandshakeOver path: Path, _ routing: RoutingMachine) -> DropReason? {
        guard case .mesh(let source) = path else { return nil }
        guard isDialed else { return .invitationOverMesh }
        guard count >= Limits.channelShareMax else { return nil }
        let hop = routing.nextHop(to: source)
        let share = count { channel in
            guard case .mesh(let other) = channel.key.path else { return false }
            return routing.nextHop(to: other) == hop
        }
        return share < Limits.channelShareMax ? nil : .channelShareFull
    }
}

extension Limits {
    /// Channels over the mesh whose frames leave by the same neighbour: half of all.
    static let channelShareMax = channelsMax / 2
}
