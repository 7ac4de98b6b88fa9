import NearbyCore
import NearbyWire

/// What neighbours may be told: of ourselves, and of the routes in use.
struct RoutingFacts {
    let own: PeerID
    let seqno: UInt32
    let kind: DestinationKind
    let destinations: DestinationTable

    /// What a neighbour is told of a destination: that there is no route, if ours goes through it
    /// (RFC 8966 §3.7.4, split horizon with poisoned reverse). Nil: nothing, of itself.
    func update(of id: PeerID, for peer: PeerID) -> RoutingMessage.RouteUpdate? {
        if id == own { return .init(destination: id, seqno: seqno, metric: 0, kind: kind) }
        if id == peer { return nil }
        guard let selected = destinations[id]?.selected else {
            // It is called otherwise now.
            return .init(
                destination: id, seqno: 0, metric: RoutingMessage.metricInfinite, kind: .node)
        }
        let isBack = selected.hop == peer
        return .init(
            destination: id, seqno: selected.seqno,
            metric: isBack ? RoutingMessage.metricInfinite : selected.metric, kind: selected.kind)
    }
}
