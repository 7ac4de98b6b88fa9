import NearbyCore
import NearbyEngine

/// What becomes of the others when a node dies, or a link comes and goes.
extension SiteRun {
    private static let watched = Duration.seconds(10)
    private static let outageMax = Duration.seconds(1)

    /// The three agents that most paths lead over die without a word, one after the other.
    func killRelays() {
        guard isStill else { return }
        simulator.startTraffic(every: plan.interval)
        defer { simulator.trafficInterval = nil }
        advance(.seconds(2))
        let victims = victims(3)
        guard !victims.isEmpty else {
            return add("death of a relay", "no agent relays whom others could do without")
        }
        var worst = Duration.zero
        var affected = 0
        var stranded = 0
        for victim in victims {
            let dependent = dependents(of: victim)
            affected += dependent.count
            let outage = watch(dependent) { simulator.crash(host: victim) }
            worst = max(worst, outage.longest)
            stranded += outage.stranded
            simulator.boot(host: victim)
            advance(.seconds(5))
        }
        let text =
            "\(victims.count) died, \(affected) paths led over them: "
            + outageText(worst, stranded)
        add("death of a relay", text, .init(worst <= Self.outageMax && stranded == 0, "1 s"))
    }

    /// Of several collectors the one that most agents have.
    func killCollector() {
        guard isStill, collectors.count > 1 else { return }
        simulator.startTraffic(every: plan.interval)
        defer { simulator.trafficInterval = nil }
        advance(.seconds(2))
        func agents(of collector: Host) -> [Int] {
            reachable.filter { simulator.hosts[$0].collector == collector.peer }
        }
        guard let victim = collectors.max(by: { agents(of: $0).count < agents(of: $1).count })
        else { return }
        let others = TrueGraph(simulator).distances(
            from: collectors.filter { $0 !== victim }.map(\.number), without: victim.number)
        let dependent = agents(of: victim).filter {
            (others[$0]?.hops ?? .max) <= Self.hopsMax
        }
        let outage = watch(dependent) { simulator.crash(host: victim.number) }
        simulator.boot(host: victim.number)
        advance(.seconds(5))
        add(
            "collector dies",
            "\(dependent.count) agents had it and could have another: "
                + outageText(outage.longest, outage.stranded),
            .init(outage.longest <= Self.outageMax && outage.stranded == 0, "1 s"))
    }

    private func outageText(_ longest: Duration, _ stranded: Int) -> String {
        "longest without a path \(Figure.seconds(longest))"
            + (stranded > 0
                ? "; \(stranded) had none after \(Figure.seconds(Self.watched))" : "")
    }

    /// How long those hosts were without a path to a collector that lives.
    private func watch(
        _ hosts: [Int], _ deed: () -> Void
    ) -> (longest: Duration, stranded: Int) {
        deed()
        let start = simulator.now
        var waiting = hosts
        var longest = Duration.zero
        while simulator.now - start < Self.watched, !waiting.isEmpty {
            simulator.run(for: .milliseconds(10))
            let before = waiting.count
            waiting.removeAll { path(from: simulator.hosts[$0]) != nil }
            if waiting.count < before { longest = simulator.now - start }
        }
        return (waiting.isEmpty ? longest : simulator.now - start, waiting.count)
    }

    /// Agents without which the others still have a path in the true graph, by how many lead over
    /// them now.
    private func victims(_ count: Int) -> [Int] {
        var loads = [Int](repeating: 0, count: simulator.hosts.count)
        for number in reachable {
            for relay in path(from: simulator.hosts[number])?.dropFirst().dropLast() ?? [] {
                loads[relay] += 1
            }
        }
        let graph = TrueGraph(simulator)
        let starts = collectors.map(\.number)
        let busiest = loads.indices.filter {
            loads[$0] > 0 && !simulator.hosts[$0].role.collects
        }.sorted { (loads[$1], $0) < (loads[$0], $1) }
        var victims: [Int] = []
        for candidate in busiest.prefix(40) where victims.count < count {
            let left = graph.distances(from: starts, without: candidate)
            let isMissed = reachable.contains {
                $0 != candidate && (left[$0]?.hops ?? .max) > Self.hopsMax
            }
            if !isMissed { victims.append(candidate) }
        }
        return victims
    }

    private func dependents(of victim: Int) -> [Int] {
        reachable.filter {
            $0 != victim && path(from: simulator.hosts[$0])?.contains(victim) == true
        }
    }

    /// The link that most paths lead over, two agents apart, is cut and healed every two seconds.
    func flap() {
        guard isStill else { return }
        var loads: [Link: Int] = [:]
        for number in reachable {
            let path = path(from: simulator.hosts[number]) ?? []
            for (one, next) in zip(path, path.dropFirst())
            where !simulator.hosts[next].role.collects {
                loads[Link(low: min(one, next), high: max(one, next)), default: 0] += 1
            }
        }
        guard let link = loads.max(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key else {
            return add("link flaps", "no path leads over a link between two agents")
        }
        simulator.startTraffic(every: plan.interval)
        defer { simulator.trafficInterval = nil }
        // What leads over the link may move, and at first everything that depends on its cost; what
        // led over it before will return to it.
        let before = Bystanders(self, low: link.low, high: link.high)
        flap(link, times: 1) {}
        var watch = Bystanders(self, low: link.low, high: link.high)
        watch.keep(only: before)
        flap(link, times: 4) { watch.look(self) }
        add(
            "link flaps",
            "between \(link.low) and \(link.high), four times off and on: of \(watch.count) routes "
                + "that do not lead over it \(watch.moved.count) moved",
            .init(watch.moved.isEmpty, "0"))
    }

    private func flap(_ link: Link, times: Int, _ look: () -> Void) {
        for step in 0..<times * 2 {
            if step % 2 == 0 {
                simulator.cut(link.low, link.high)
            } else {
                simulator.heal(link.low, link.high)
            }
            for _ in 0..<10 {
                advance(.milliseconds(200))
                look()
            }
        }
    }

    private struct Link: Hashable, Comparable {
        var low: Int
        var high: Int

        static func < (one: Link, other: Link) -> Bool {
            (one.low, one.high) < (other.low, other.high)
        }
    }
}

/// Routes that do not lead over a link, and what becomes of them: to the collectors, and to some
/// dozen others.
private struct Bystanders {
    private struct Way: Hashable {
        var host: Int
        var destination: Int
    }

    private let destinations: [Int]
    private var hops: [Way: Int] = [:]
    private var versions: [UInt64]
    private(set) var moved: Set<Int> = []

    var count: Int { hops.count }

    init(_ run: SiteRun, low: Int, high: Int) {
        let hosts = run.simulator.hosts
        let step = max(1, hosts.count / 12)
        destinations = (run.collectors.map(\.number) + stride(from: 0, to: hosts.count, by: step))
            .sorted()
        versions = run.routesVersions
        for destination in Set(destinations) {
            for host in hosts where host.number != destination {
                guard let path = run.path(from: host, to: hosts[destination]),
                    !zip(path, path.dropFirst()).contains(where: {
                        min($0, $1) == low && max($0, $1) == high
                    })
                else { continue }
                hops[Way(host: host.number, destination: destination)] = path[1]
            }
        }
    }

    /// Those that were bystanders before as well.
    mutating func keep(only former: Bystanders) {
        hops = hops.filter { former.hops[$0.key] != nil }
    }

    mutating func look(_ run: SiteRun) {
        let simulator = run.simulator
        let now = run.routesVersions
        for host in simulator.hosts where now[host.number] != versions[host.number] {
            for destination in destinations {
                let way = Way(host: host.number, destination: destination)
                guard let before = hops[way] else { continue }
                let hop = simulator.forwardingHost(from: host, to: simulator.hosts[destination])
                if hop?.number != before {
                    moved.insert(host.number * simulator.hosts.count + destination)
                }
            }
        }
        versions = now
    }
}
