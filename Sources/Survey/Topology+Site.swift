import NearbyCore
import NearbySimulator

extension Topology {
    /// A simulated site as its first collector would show it: each node on the one that its packets
    /// to that collector go to next. Those without a path there are out of reach.
    public init(_ run: SiteRun) {
        let hosts = run.simulator.hosts
        let own = hosts.first { $0.role == .collector } ?? hosts[0]
        var map = NetworkMap(own: .init(own), network: "simulated")
        var findings: [PeerID: Finding] = [:]
        let neighbours = own.node?.neighbourStatus ?? []
        for host in hosts where host !== own {
            var member = NetworkMap.MappedNode(host)
            let path = run.path(from: host, to: own)
            member.isOnline = path != nil
            member.cost = own.node?.routes.first { $0.destination == host.peer }
                .map { Int($0.metric) }
            if let path, path.count > 1 {
                member.via = hosts[path[path.count - 2]].peer
                member.hops = path.count - 1
                findings[host.peer] = Finding(
                    parent: hosts[path[1]].peer, hops: path.count - 1,
                    link: host.node?.neighbourStatus.first { $0.peer == hosts[path[1]].peer }
                        .map { "\($0.linkClass)" },
                    nanoseconds: nil)
                // Only who goes there straight hangs on it; a neighbour may have a cheaper path.
                if path.count == 2, let hop = neighbours.first(where: { $0.peer == host.peer }) {
                    map.links[host.peer] = .init(
                        kind: "\(hop.linkClass)", interface: "", cost: Int(hop.cost),
                        lossPercent: hop.lossPercent)
                }
            }
            map.members.append(member)
        }
        map.members.sort { $0.peer < $1.peer }
        self.init(map, findings: findings)
    }
}

extension NetworkMap.MappedNode {
    fileprivate init(_ host: Host) {
        self.init(peer: host.peer, name: "node\(host.number)", role: "\(host.role)")
    }
}
