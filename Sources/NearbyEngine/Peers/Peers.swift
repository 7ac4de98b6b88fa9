import NearbyCore
import NearbyWire

/// The peers of a node: who has an open channel, and who of them is a neighbour.
///
/// Every neighbour has an association; `holders` has exactly the associated, by the first half of
/// their PeerIDs. Numbers of reliable messages outlive associations.
///
/// A class, so that looking at it costs nothing. Only `PeerMachine` changes who is in it; `Outbox`
/// takes from neighbours' queues and says when a channel's keys are worn.
final class Peers {
    private var associations: [PeerID: Association] = [:]
    private var holders: [ShortID: PeerID] = [:]
    private var neighbours: [PeerID: Neighbour] = [:]
    private var numbers: [PeerID: ReliableNumbers] = [:]
    /// The highest number of those that are forgotten: who comes back does not take a message with
    /// a lower one.
    private var lastForgotten: UInt64 = 0

    // MARK: Associations

    subscript(peer: PeerID) -> Association? { associations[peer] }

    /// That whose traffic this channel carries.
    subscript(over channel: PeerChannel) -> Association? {
        guard let peer = channel.peer, let association = associations[peer],
            association.token == channel.token
        else { return nil }
        return association
    }

    func holder(of node: ShortID) -> PeerID? { holders[node] }

    func role(of peer: PeerID) -> Role? { associations[peer]?.terms.role }

    /// In the order of their PeerIDs.
    var associated: [Association] { associations.values.sorted { $0.peer < $1.peer } }

    /// In place of the one that there was with the peer.
    func add(_ association: Association) {
        associations.updateValue(association, forKey: association.peer)?.end()
        holders[association.peer.short] = association.peer
        if numbers.count >= Limits.channelsMax { forgetNumbers() }
        numbers[association.peer, default: ReliableNumbers(after: lastForgotten)]
            .connected(to: association.terms.run)
    }

    /// Its neighbour must have been removed.
    func remove(_ peer: PeerID) -> Association? {
        holders[peer.short] = nil
        let association = associations.removeValue(forKey: peer)
        association?.end()
        return association
    }

    // MARK: Reliable messages

    func number(_ message: [UInt8], for peer: PeerID) -> [UInt8] {
        numbers[peer, default: ReliableNumbers(after: lastForgotten)].numbered(message)
    }

    /// The message without its number, if it was not delivered before.
    func accept(
        _ message: [UInt8], from peer: PeerID
    ) -> Result<[UInt8], ReliableNumbers.Refusal> {
        numbers[peer, default: ReliableNumbers(after: lastForgotten)].delivered(message)
    }

    /// Those of peers without a channel.
    private func forgetNumbers() {
        for (peer, pair) in numbers where associations[peer] == nil {
            lastForgotten = max(lastForgotten, pair.lastSent)
            numbers[peer] = nil
        }
    }

    // MARK: Neighbours

    var neighbourCount: Int { neighbours.count }

    /// The neighbour that sent a frame on this channel, if it came over a link between the two.
    func hop(of channel: PeerChannel, _ arrival: Arrival) -> Neighbour? {
        guard case .link = arrival.path, let peer = channel.peer else { return nil }
        return neighbours[peer]
    }

    func neighbour(_ peer: PeerID) -> Neighbour? { neighbours[peer] }

    func isNeighbour(_ peer: PeerID) -> Bool { neighbours[peer] != nil }

    /// In the order of their PeerIDs.
    var neighbourList: [Neighbour] { neighbours.values.sorted { $0.peer < $1.peer } }

    /// The one that is addressed there and not suspect; the link may be unknown, 0.
    func answeringNeighbour(at endpoint: Endpoint) -> Neighbour? {
        var first: Neighbour?
        for neighbour in neighbours.values
        where neighbour.endpoint.address == endpoint.address
            && (endpoint.link.value == 0 || neighbour.endpoint.link == endpoint.link)
            && neighbour.hop.cost != RoutingMessage.metricInfinite
        {
            if first.map({ neighbour.peer < $0.peer }) ?? true { first = neighbour }
        }
        return first
    }

    func add(_ neighbour: Neighbour) { neighbours[neighbour.peer] = neighbour }

    func removeNeighbour(_ peer: PeerID) -> Neighbour? {
        let neighbour = neighbours.removeValue(forKey: peer)
        neighbour?.end()
        return neighbour
    }
}
