import NearbyCore
import NearbyEngine
import NearbyLinux

/// Peers that only relays see: routing knows that they are there, and nobody has heard their names.
extension Station {
    /// Those whose names are known by now. The others are called, a few at a time, and say theirs;
    /// whoever asks again hears of them.
    func lookUp(_ browsed: Browsed, _ now: Instant) -> [Peer] {
        guard let node = nodes.first(where: { $0.service == browsed.service }) else { return [] }
        endLookUps(now)
        var peers: [Peer] = []
        for known in node.node.knownNodes
        where known.isReachable && known.peer != own.peer.id && node.sightings[known.peer] == nil {
            if let name = known.name {
                names.learn(known.peer, name)
                peers.append(names.peer(known.peer))
            } else if !called.contains(known.peer), lookedUp[known.peer] == nil,
                lookedUp.values.count(where: { !$0.isOver }) < Limits.lookUpsMax,
                lookedUp.count < Limits.lookedUpMax
            {
                lookedUp[known.peer] = LookUp(began: now)
                node.node.handle(.application(.call(known.peer)), now: now)
            }
        }
        return peers
    }

    /// Lets go of those that have said their names, or had their time.
    func endLookUps(_ now: Instant) {
        for (peer, lookUp) in lookedUp.sorted(by: { $0.key < $1.key }) where !lookUp.isOver {
            let isNamed = nodes.contains { $0.node.knownNode(peer)?.name != nil }
            guard isNamed || now - lookUp.began > Limits.lookUpTime || browsers.isEmpty else {
                continue
            }
            lookedUp[peer]?.isOver = true
            guard !called.contains(peer) else { continue }
            for node in nodes { node.node.handle(.application(.release(peer)), now: now) }
        }
        if browsers.isEmpty { lookedUp = [:] }
    }
}

/// A node that was called to hear its name.
struct LookUp {
    let began: Instant
    var isOver = false
}

extension Limits {
    /// Nodes called at a time, and in all.
    static let lookUpsMax = 16
    static let lookedUpMax = 1_024
    static let lookUpTime = Duration.seconds(5)
}
