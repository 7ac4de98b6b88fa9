import Collector
import Fleet
import NearbyCore
import Telemetry

/// What alarms know of a node: since when nothing came, and which rules watch which channel.
struct AlarmNode: Sendable {
    /// A channel that a rule watches.
    struct Watched: Sendable {
        let name: String
        let unit: Unit
        let map: ValueMap
        /// In ascending order.
        let rules: [Int]
        /// When the newest reading was measured, by our clock.
        var newest: Instant
    }

    private(set) var name: String
    private(set) var lastHeard: Instant
    /// Those that watch its silence.
    private(set) var rules: [Int]
    private var birth: BirthReference?
    private var run: RunID?
    private var channels: [UInt16: Watched] = [:]
    /// What channels of the run are called, or were called before other words were configured.
    private var namesInRun: Set<String> = []

    /// One of whom nothing is known but the name.
    init(name: String, peer: PeerID, rules: [AlarmRule], now: Instant) {
        self.name = name
        lastHeard = now
        self.rules = Self.silenceRules(rules, peer, name)
    }

    /// With other rules, or other words, before it is known what they mean for its channels.
    init(after former: AlarmNode, of peer: PeerID, rules: [AlarmRule]) {
        self.init(name: former.name, peer: peer, rules: rules, now: former.lastHeard)
        run = former.run
        namesInRun = former.namesInRun
    }

    var channelCount: Int { channels.count }

    /// Whether a rule is about one of its channels, or about its silence.
    enum Standing {
        case watched
        /// Its run does not have the channel, which may still come: a sensor takes its time.
        case missing
        /// The rule is about other nodes or channels, or the channel has another name.
        case over
    }

    /// - Parameter key: empty channel: its silence.
    func standing(of key: AlarmKey, _ rules: [AlarmRule]) -> Standing {
        guard !key.channel.isEmpty else {
            return self.rules.contains(key.rule) ? .watched : .over
        }
        let isWatched = channels.values.contains {
            $0.name == key.channel && $0.rules.contains(key.rule)
        }
        if isWatched { return .watched }
        let rule = rules[key.rule]
        let isMeant = rule.isMeant(for: key.peer, named: name) && rule.isAbout(key.channel)
        return isMeant && !namesInRun.contains(key.channel) ? .missing : .over
    }

    mutating func hear(_ time: Instant) { lastHeard = max(lastHeard, time) }

    /// Whether it is what is known already.
    func knows(_ other: Birth) -> Bool { birth == other.reference }

    /// Whether it tells of a run, or channels, that came before those that are known.
    func isPast(_ other: Birth) -> Bool {
        guard run == other.run, let birth else { return false }
        return other.number < birth.number
    }

    /// - Returns: how many channels it has no room for.
    mutating func adopt(
        _ birth: Birth, of peer: PeerID, _ rules: [AlarmRule], _ words: FleetWords, room: Int
    ) -> Int {
        let own = birth.node.name
        let newest = Dictionary(channels.values.map { ($0.name, $0.newest) }) { max($0, $1) }
        name = words.name(of: peer, named: own)
        self.rules = Self.silenceRules(rules, peer, name)
        self.birth = birth.reference
        if run != birth.run { namesInRun = [] }
        run = birth.run
        let mine = rules.indices.filter { rules[$0].isMeant(for: peer, named: name) }
        channels = [:]
        var leftOut = 0
        for channel in birth.channels where !mine.isEmpty {
            let shown = words.channel(
                of: peer, named: own, channel.name, channel.unit, scale: channel.scale)
            let watching = mine.filter {
                rules[$0].isAbout(shown.name)
            }
            guard !watching.isEmpty else { continue }
            guard channels.count < room else {
                leftOut += 1
                continue
            }
            channels[channel.number] = Watched(
                name: shown.name, unit: shown.unit, map: shown.map, rules: watching,
                newest: newest[shown.name] ?? Instant(nanoseconds: .min))
        }
        namesInRun.formUnion(channels.values.map(\.name))
        return leftOut
    }

    /// The channel that a reading is of, if a rule watches it and it is not older than others.
    mutating func watched(_ number: UInt16, at time: Instant) -> Watched? {
        guard var watched = channels[number], time >= watched.newest else { return nil }
        watched.newest = time
        channels[number] = watched
        return watched
    }

    private static func silenceRules(
        _ rules: [AlarmRule], _ peer: PeerID, _ name: String
    ) -> [Int] {
        rules.indices.filter {
            rules[$0].condition == .silent && rules[$0].isMeant(for: peer, named: name)
        }
    }
}
