import Fleet
import NearbyCore
import NearbyEngine
import NodeShell

/// What the node knows, as the fleet sees it.
extension FleetWatch {
    var view: MeshView {
        let node = program.runner.node
        var view = MeshView()
        view.own = node.ownPeer
        view.neighbours = node.neighbourStatus.map {
            MeshView.MeshNeighbour(
                peer: $0.peer, link: $0.linkClass.word, cost: UInt32($0.cost),
                lossPercent: Double($0.lossPercent))
        }
        for route in node.routes {
            view.costs[route.destination] = UInt32(route.metric)
            view.ways[route.destination] = route.nextHop
        }
        return view
    }

    func sightings(_ links: [FleetLink], _ now: Instant) -> [FleetSighting] {
        var kinds: [PeerID: String] = [:]
        for link in links { kinds[link.to] = link.link }
        return program.runner.node.knownNodes.map { node in
            var sighting = FleetSighting(peer: node.peer, role: node.roleWord)
            sighting.name = program.runner.knownName(of: node.peer) ?? ""
            sighting.version = node.software
            sighting.isOnline = node.isReachable
            sighting.age = max(now - node.lastReachable, .zero)
            let isNeighbour = node.nextHop == node.peer
            sighting.via = isNeighbour ? nil : node.nextHop
            if node.isReachable {
                sighting.hops = isNeighbour ? 1 : node.hops.flatMap { $0 > 1 ? $0 : nil }
            }
            sighting.link = kinds[node.peer] ?? ""
            return sighting
        }
    }
}
