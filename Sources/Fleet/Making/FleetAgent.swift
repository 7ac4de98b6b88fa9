import Collector
import NearbyCore
import Telemetry

/// What was heard of one agent: its newest run's channels.
struct FleetAgent: Sendable {
    struct ListedChannel: Sendable {
        var number: UInt16
        var isRetired: Bool
        var shown: FleetChannel
        var map: ValueMap
        /// Before the map, when it was measured, and its number; nil: no reading came.
        var newest: (outcome: Outcome, sequence: UInt64)?

        /// Unless what is known is as new, or newer.
        mutating func apply(_ reading: Reading, utc: Int64, hops: UInt8) {
            if let newest, (shown.utc, newest.sequence) >= (utc, reading.sequence) { return }
            newest = (reading.outcome, reading.sequence)
            shown.last = map.isIdentity ? reading.outcome : map(reading.outcome)
            shown.utc = utc
            shown.hops = hops
        }
    }

    private var birth: Birth
    private var name = ""
    private var labels: [Label] = []
    /// By shown name.
    private(set) var channels: [ListedChannel] = []
    private var numbers = ChannelNumbers()
    /// Where in `channels` they are, in the order of `numbers`.
    private var places: [Int] = []
    /// What is wrong with the words for it.
    private(set) var faults: [String] = []
    /// When something came of it last: by our clock, or before this start, by UTC, nanoseconds.
    private enum Hearing {
        case since(Instant)
        case before(Int64)
    }

    private var hearing = Hearing.since(.zero)
    private var hops: UInt8 = 0
    private var rank = ClockRank.none
    private var readingCount: UInt64 = 0
    /// Of the runs before, and of this one.
    private var lostBefore: UInt64 = 0
    private var lost: UInt64 = 0

    init(_ birth: Birth, of peer: PeerID, _ words: FleetWords) { self.birth = birth }

    /// Whether nothing came of it since the start.
    var isRecalled: Bool { if case .before = hearing { true } else { false } }

    /// In the order in which they were heard last.
    var order: (Int64, Int64) {
        switch hearing {
        case .before(let utc): (0, utc)
        case .since(let time): (1, time.nanoseconds)
        }
    }

    mutating func heard(_ now: Instant) {
        if case .since(let last) = hearing, last > now { return }
        hearing = .since(now)
    }

    /// Its newest readings are those from before this start.
    mutating func recall(_ node: RecalledNode) {
        hearing = .before(node.utc ?? 0)
        for newest in node.newest {
            guard let place = place(of: newest.channel) else { continue }
            channels[place].newest = (newest.outcome, newest.sequence)
            channels[place].shown.last = channels[place].map(newest.outcome)
            channels[place].shown.utc = newest.utc
            channels[place].shown.hops = newest.hops
        }
    }

    /// Whether a birth says more than what is known: an earlier birth, or that of a run that ended,
    /// does not.
    func takesOver(_ other: Birth) -> Bool {
        if other.run == birth.run { return other.number >= birth.number }
        return birth.previous?.run != other.run
    }

    /// Whether its birth has to be adopted first. A run that is not ours is newer if its readings
    /// are.
    func needs(_ delivery: Delivery) -> Bool {
        if delivery.birth.run == birth.run { return delivery.birth.number > birth.number }
        return takesOver(delivery.birth) && delivery.birth.previous?.run == birth.run
    }

    mutating func adopt(_ birth: Birth, of peer: PeerID, _ words: FleetWords, limit: Int) {
        if birth.run != self.birth.run {
            lostBefore &+= lost
            lost = 0
        }
        var known: [UInt16: ListedChannel] = [:]
        if birth.run == self.birth.run {
            for channel in channels { known[channel.number] = channel }
        }
        self.birth = birth
        channels = birth.channels.prefix(max(limit, 0)).map { channel in
            var next = ListedChannel(
                number: channel.number, isRetired: channel.isRetired,
                shown: FleetChannel(
                    name: channel.name, unit: channel.unit, scale: channel.scale,
                    last: .null(.unspecified), utc: 0, hops: 0), map: ValueMap())
            if let known = known[channel.number] {
                next.newest = known.newest
                (next.shown.utc, next.shown.hops) = (known.shown.utc, known.shown.hops)
            }
            return next
        }
        rename(peer, words)
    }

    /// Names everything by these words.
    mutating func rename(_ peer: PeerID, _ words: FleetWords) {
        let own = birth.node.name
        name = words.name(of: peer, named: own)
        labels = words.labels(of: peer, named: own, birth.node.labels)
        faults = []
        for index in channels.indices {
            guard let channel = birth.channel(channels[index].number) else { continue }
            let shown = words.channel(
                of: peer, named: own, channel.name, channel.unit, scale: channel.scale)
            channels[index].map = shown.map
            channels[index].shown.name = shown.name
            channels[index].shown.storedName = shown.name == channel.name ? nil : channel.name
            channels[index].shown.unit = shown.unit
            channels[index].shown.scale = shown.scale
            if let outcome = channels[index].newest?.outcome {
                channels[index].shown.last = shown.map(outcome)
            }
            if let unit = shown.map.unreachable {
                faults.append(
                    "agents: \(channel.name) of \(own) is in \(channel.unit.symbol), which cannot "
                        + "be converted to \(unit.symbol): its values stay as they are")
            }
        }
        channels.sort { ($0.shown.name, $0.number) < ($1.shown.name, $1.number) }
        numbers = ChannelNumbers()
        places = []
        for (place, channel) in channels.enumerated() {
            places.insert(place, at: numbers.insert(channel.number))
        }
        noteCollisions(own)
    }

    private func place(of number: UInt16) -> Int? { numbers.place(of: number).map { places[$0] } }

    private mutating func noteCollisions(_ own: String) {
        let active = channels.filter { !$0.isRetired }
        for (one, next) in zip(active, active.dropFirst())
        where one.shown.name == next.shown.name
            && (one.shown.storedName != nil || next.shown.storedName != nil)
        {
            faults.append(
                "agents: two channels of \(own) are called \(one.shown.name) now: give one of "
                    + "them another name")
        }
    }

    mutating func apply(_ delivery: Delivery, unixOffset: Duration) {
        heard(delivery.arrival)
        readingCount &+= UInt64(delivery.readings.count)
        guard delivery.birth.run == birth.run else { return }
        (hops, rank, lost) = (delivery.hops, delivery.rank, delivery.missing)
        let offset = delivery.offset.nanoseconds.addingSaturating(unixOffset.nanoseconds)
        for reading in delivery.readings {
            guard let place = place(of: reading.channel) else { continue }
            let time = reading.time.nanoseconds.addingSaturating(offset)
            channels[place].apply(reading, utc: time, hops: delivery.hops)
        }
    }

    // MARK: Showing

    /// - Parameter utc: now, nanoseconds since 1970.
    func describe(_ node: inout FleetNode, now: Instant, utc: Int64) {
        node.name = name
        node.storedName = name == birth.node.name ? nil : birth.node.name
        if node.role.isEmpty { node.role = "agent" }
        node.board = birth.node.board
        node.labels = labels
        switch hearing {
        case .since(let time): node.age = max(now - time, .zero)
        case .before(let time):
            let age = Duration.nanoseconds(max(0, utc.subtractingSaturating(time)))
            node.age = min(node.age ?? age, age)
        }
        if node.hops == nil, hops > 0 { node.hops = Int(hops) }
        node.clock = rank.name
        node.readingCount = readingCount
        node.lostCount = lostBefore &+ lost
        node.channels = channels.compactMap {
            $0.newest == nil || $0.isRetired ? nil : $0.shown
        }
        node.signal = FleetVitals.signal(node.channels)
        node.battery = FleetVitals.battery(node.channels)
    }
}

/// What channels say of the board itself.
enum FleetVitals {
    /// How well its link is received, dBm: that of a network interface, else of the only channel in
    /// that unit.
    static func signal(_ channels: [FleetChannel]) -> Double? {
        let all = channels.filter { $0.unit.name == "dBm" }
        return value(all, preferring: { $0.hasPrefix("net.") })
    }

    /// Percent: that of a power supply, else of the only channel that speaks of a battery.
    static func battery(_ channels: [FleetChannel]) -> Double? {
        let all = channels.filter {
            guard $0.unit.name == "%EL" || $0.unit.name == "%" else { return false }
            let name = ($0.storedName ?? $0.name).lowercased()
            return name.contains("battery") || name.hasPrefix("power.") && name.hasSuffix("level")
        }
        return value(all, preferring: { $0.hasPrefix("power.") })
    }

    private static func value(
        _ channels: [FleetChannel], preferring isOwn: (String) -> Bool
    ) -> Double? {
        let own = channels.first { isOwn($0.storedName ?? $0.name) }
        return (own ?? (channels.count == 1 ? channels[0] : nil))?.last.value?.double
    }
}
