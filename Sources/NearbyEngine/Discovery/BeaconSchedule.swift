import NearbyCore

extension Limits {
    /// Links that carry discovery.
    static let discoveryLinksMax = 32
    /// Addresses of each kind that are tried by unicast: configured, remembered, or of one service.
    static let discoveryStaticPeersMax = 64
}

/// When beacons leave on which link, and whether anything was heard there by multicast.
struct BeaconSchedule: Sendable {
    private struct Link: Sendable {
        let id: LinkID
        let hasBroadcast: Bool
        var trickle: Trickle
        var silentSince: Instant?
    }

    /// Between two beacons.
    let longest: Duration
    /// In the order of their numbers.
    private var links: [Link] = []

    init(longest: Duration) { self.longest = longest }

    /// False if there are too many. A known link begins anew.
    mutating func add(_ id: LinkID, hasBroadcast: Bool, now: Instant) -> Bool {
        remove(id)
        guard links.count < Limits.discoveryLinksMax else { return false }
        let link = Link(
            id: id, hasBroadcast: hasBroadcast, trickle: Trickle(now: now, longest: longest),
            silentSince: now)
        links.insert(link, at: links.firstIndex { $0.id > id } ?? links.endIndex)
        return true
    }

    mutating func remove(_ id: LinkID) { links.removeAll { $0.id == id } }

    mutating func restart(now: Instant) {
        for index in links.indices {
            links[index].trickle = Trickle(now: now, longest: longest)
            links[index].silentSince = now
        }
    }

    mutating func resetAll(now: Instant) {
        for index in links.indices { links[index].trickle.reset(now: now) }
    }

    /// A beacon of somebody else came by multicast.
    mutating func heard(on id: LinkID, isConsistent: Bool) {
        guard let index = links.firstIndex(where: { $0.id == id }) else { return }
        links[index].silentSince = nil
        if isConsistent { links[index].trickle.heardConsistent() }
    }

    /// The links on which a beacon leaves now; `alsoBroadcast` where multicast brought nothing.
    mutating func fire(
        content: Bool, now: Instant, using generator: inout SeededGenerator
    ) -> [(link: LinkID, alsoBroadcast: Bool)] {
        var fired: [(link: LinkID, alsoBroadcast: Bool)] = []
        for index in links.indices
        where links[index].hasBroadcast && links[index].trickle.due <= now {
            if links[index].trickle.fire(content: content, now: now, using: &generator) {
                fired.append((links[index].id, Self.isSilent(links[index], now: now)))
            }
        }
        return fired
    }

    var due: Instant {
        links.filter(\.hasBroadcast).map(\.trickle.due).min() ?? .distantFuture
    }

    var broadcasting: [LinkID] { links.filter(\.hasBroadcast).map(\.id) }

    func isSilent(_ id: LinkID, now: Instant) -> Bool {
        links.contains { $0.id == id && Self.isSilent($0, now: now) }
    }

    /// Beacons that leave on all links together within the next second, at most.
    var dueWithinASecond: Int {
        links.reduce(0) { $0 + ($1.hasBroadcast ? $1.trickle.dueWithinASecond : 0) }
    }

    private static func isSilent(_ link: Link, now: Instant) -> Bool {
        guard link.hasBroadcast, let since = link.silentSince else { return false }
        return now - since >= silence
    }

    static let silence: Duration = .seconds(3)
}

/// Who tells of peers beside our own beacons.
public enum AdvertisingService: Hashable, Sendable {
    /// DNS-SD.
    case avahi
    case bluetooth
}

/// Unicast beacons to addresses that were configured, advertised or remembered, each with the
/// intervals of a beacon.
struct ProbeSchedule: Sendable {
    enum Kind: Equatable, Sendable {
        case configured
        case advertised(AdvertisingService)
        /// Only where multicast is silent.
        case remembered
    }

    private struct Probe: Sendable {
        let endpoint: Endpoint
        let kind: Kind
        var trickle: Trickle
        var lastHeard: Instant?
    }

    /// Between two beacons.
    let longest: Duration
    private var probes: [Probe] = []

    init(longest: Duration) { self.longest = longest }

    /// Replaces those of this kind; keeps the timing of addresses that stay. Beyond the limit they
    /// are left out.
    mutating func setPeers(_ endpoints: [Endpoint], kind: Kind, now: Instant) {
        let before = probes
        probes.removeAll { $0.kind == kind }
        for endpoint in endpoints.prefix(Limits.discoveryStaticPeersMax) {
            guard !probes.contains(where: { $0.endpoint == endpoint }) else { continue }
            let known = before.first { $0.endpoint == endpoint && $0.kind == kind }
            probes.append(
                known ?? Probe(endpoint: endpoint, kind: kind, trickle: trickle(kind, now)))
        }
    }

    mutating func restart(now: Instant) {
        for index in probes.indices {
            probes[index].trickle = trickle(probes[index].kind, now)
        }
    }

    mutating func reset(on link: LinkID, now: Instant) {
        for index in probes.indices where probes[index].endpoint.link == link {
            probes[index].trickle = trickle(probes[index].kind, now)
        }
    }

    /// The first address that is due, with its next turn set; nil if none is. `isHeard`: a beacon
    /// came from there just now.
    mutating func takeDue(
        now: Instant, using generator: inout SeededGenerator
    ) -> (endpoint: Endpoint, kind: Kind, isHeard: Bool)? {
        guard let index = probes.firstIndex(where: { $0.trickle.due <= now }) else { return nil }
        _ = probes[index].trickle.fire(content: false, now: now, using: &generator)
        let isHeard = probes[index].lastHeard.map { now - $0 < longest * 2 } ?? false
        return (probes[index].endpoint, probes[index].kind, isHeard)
    }

    /// A beacon came by unicast from there.
    mutating func heard(from endpoint: Endpoint, now: Instant) {
        for index in probes.indices where probes[index].endpoint == endpoint {
            probes[index].lastHeard = now
        }
    }

    var due: Instant { probes.map(\.trickle.due).min() ?? .distantFuture }

    /// Remembered addresses wait until multicast had its chance.
    private func trickle(_ kind: Kind, _ now: Instant) -> Trickle {
        Trickle(
            now: kind == .configured ? now : now + BeaconSchedule.silence, longest: longest)
    }
}
