import NearbyCore

/// A peer that we reach over one of our links: its hop, and what waits to be sent over it.
final class Neighbour: Timed {
    let peer: PeerID
    let name: String
    var hop: HopMachine { didSet { timers.touch(place) } }
    var queue = SendQueue()
    /// Whether it is among those whose frames leave with the next flush.
    var isWaiting = false
    private let place: NodeTimers.Place
    private let timers: NodeTimers

    init(peer: PeerID, name: String, hop: HopMachine, timers: NodeTimers) {
        self.peer = peer
        self.name = name
        self.hop = hop
        self.timers = timers
        place = NodeTimers.Place(.neighbour(peer))
        timers.begin(place, of: self)
    }

    deinit { timers.end(place) }

    /// It wants no attention any more.
    func end() { timers.end(place) }

    var nextDeadline: Instant? { hop.nextDeadline }

    var endpoint: Endpoint { hop.endpoint }
}
