import NearbyCore

/// Who walks about and who is without power, as time goes on.
struct SiteMotion {
    /// A range in so many seconds.
    private static let secondsPerRange = 30.0
    private static let cycle = Duration.seconds(60)
    private static let awake = Duration.seconds(20)

    let movers: [Int]
    let sleepers: [Int]
    private var targets: [Int: RadioField.Position] = [:]
    private var random: SeededGenerator
    private var nextStep: Instant = .zero
    /// Since when one that has power again has had no collector.
    private var wokenAt: [Int: Instant] = [:]
    /// From having power again to having a collector.
    private(set) var wakeTimes: [Duration] = []

    init(_ plan: SitePlan, _ world: World) {
        var random = SeededGenerator(seed: plan.seed ^ 0x6d6f_7665)
        let agents = world.roles.indices.filter { world.roles[$0] == .agent }
        func share(_ percent: Int, _ random: inout SeededGenerator) -> [Int] {
            World.share(percent, of: agents.count, &random).map { agents[$0] }.sorted()
        }
        movers = share(plan.movingPercent, &random)
        sleepers = share(plan.sleepingPercent, &random)
        self.random = random
    }

    var isStill: Bool { movers.isEmpty && sleepers.isEmpty }

    /// Once a second nodes move, and those whose time has come lose their power or have it again.
    mutating func advance(_ simulator: Simulator) {
        noteCollectors(simulator)
        guard !isStill, simulator.now >= nextStep else { return }
        nextStep = simulator.now + .seconds(1)
        walk(simulator)
        for (place, host) in sleepers.enumerated() {
            let offset = Self.cycle.nanoseconds * Int64(place) / Int64(sleepers.count)
            let phase = (simulator.now.nanoseconds + offset) % Self.cycle.nanoseconds
            let isAwake = phase < Self.awake.nanoseconds
            if simulator.hosts[host].isUp, !isAwake {
                simulator.crash(host: host)
                wokenAt[host] = nil
            } else if !simulator.hosts[host].isUp, isAwake {
                simulator.boot(host: host)
                wokenAt[host] = simulator.now
            }
        }
    }

    private mutating func noteCollectors(_ simulator: Simulator) {
        for (host, since) in wokenAt.sorted(by: { $0.key < $1.key })
        where simulator.hosts[host].collector != nil {
            wakeTimes.append(simulator.now - since)
            wokenAt[host] = nil
        }
    }

    private mutating func walk(_ simulator: Simulator) {
        guard let field = simulator.field, !movers.isEmpty else { return }
        let step = 1 / Self.secondsPerRange
        var moves: [(host: Int, to: RadioField.Position)] = []
        for host in movers {
            let place = field.positions[host]
            var target = targets[host] ?? place
            if place.distance(to: target) <= step {
                // Somebody walks to where somebody stands.
                let goal = Int.random(in: field.positions.indices, using: &random)
                target = field.positions[goal]
                targets[host] = target
            }
            let distance = max(place.distance(to: target), step)
            moves.append(
                (
                    host,
                    .init(
                        x: place.x + (target.x - place.x) * step / distance,
                        y: place.y + (target.y - place.y) * step / distance)
                ))
        }
        simulator.field?.move(moves)
    }
}
