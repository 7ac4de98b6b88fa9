import NearbyCore

/// A peer that we reach over one of our links: its hop, and what waits to be sent over it.
final class Neighbour {
    let peer: PeerID
    let name: String
    var hop: HopMachine { didSet { timers.touch(.neighbour(peer)) } }
    var queue = SendQueue()
    /// Whether it is among those whose frames leave with the next flush.
    var isWaiting = false
    private let timers: NodeTimers

    init(peer: PeerID, name: String, hop: HopMachine, timers: NodeTimers) {
        self.peer = peer
        self.name = name
        self.hop = hop
        self.timers = timers
        timers.touch(.neighbour(peer))
    }

    deinit { timers.touch(.neighbour(peer)) }

    var endpoint: Endpoint { hop.endpoint }
}
