import NearbyCore
import NearbyWire

/// The neighbours, and to which of them something is still to be said.
///
/// A collector has hundreds of them and hears from one at a time: only those are looked at to which
/// something happened, and each is changed in place, for it may have been told of all the others.
struct RoutingNeighbourTable: Sendable {
    private var all: [PeerID: RoutingNeighbour] = [:]
    /// At least those that have a word and wait for no acknowledgement.
    private var talking: Set<PeerID> = []
    /// When a message is repeated unless it is acknowledged; with many neighbours perhaps earlier.
    private(set) var nextResend = Instant.distantFuture

    var count: Int { all.count }

    var values: Dictionary<PeerID, RoutingNeighbour>.Values { all.values }

    var sortedPeers: [PeerID] { all.keys.sorted() }

    subscript(peer: PeerID) -> RoutingNeighbour? { all[peer] }

    func contains(_ peer: PeerID) -> Bool { all.index(forKey: peer) != nil }

    /// Infinite for who is no neighbour.
    func cost(of peer: PeerID) -> UInt16 {
        guard let index = all.index(forKey: peer) else { return RoutingMessage.metricInfinite }
        return all.values[index].cost
    }

    // MARK: Changing

    mutating func add(_ neighbour: RoutingNeighbour, as peer: PeerID) {
        all[peer] = neighbour
        talking.insert(peer)
    }

    mutating func remove(_ peer: PeerID) -> RoutingNeighbour? {
        talking.remove(peer)
        return all.removeValue(forKey: peer)
    }

    /// Nil where it is no neighbour.
    @discardableResult
    mutating func change<Result>(
        _ peer: PeerID, _ body: (inout RoutingNeighbour) -> Result
    ) -> Result? {
        guard let index = all.index(forKey: peer) else { return nil }
        talking.insert(peer)
        return body(&all.values[index])
    }

    mutating func changeAll(_ body: (PeerID, inout RoutingNeighbour) -> Void) {
        var index = all.startIndex
        while index != all.endIndex {
            let peer = all[index].key
            body(peer, &all.values[index])
            talking.insert(peer)
            all.formIndex(after: &index)
        }
    }

    // MARK: Emission

    /// What is to be sent now, in the order of the neighbours' PeerIDs (RFC 8966 §3.7).
    ///
    /// - Parameter current: what the second is told of the first.
    mutating func sendDue(
        now: Instant, current: (PeerID, PeerID) -> RoutingMessage.RouteUpdate?
    ) -> [RoutingMachine.Output] {
        let isResendDue = now >= nextResend
        guard isResendDue || !talking.isEmpty else { return [] }
        var outputs: [RoutingMachine.Output] = []
        for peer in isResendDue ? sortedPeers : talking.sorted() {
            guard let index = all.index(forKey: peer), all.values[index].hasWord(now) else {
                continue
            }
            let message = all.values[index].nextMessage(now: now) { current($0, peer) }
            nextResend = min(nextResend, all.values[index].nextDeadline ?? .distantFuture)
            if let message { outputs.append(.send(message, to: peer)) }
        }
        talking.removeAll(keepingCapacity: true)
        if isResendDue || count <= Self.fewCount {
            nextResend = values.compactMap(\.nextDeadline).min() ?? .distantFuture
        }
        return outputs
    }

    /// So few are looked through for the next deadline each time: then it is never too early.
    private static let fewCount = 16
}
