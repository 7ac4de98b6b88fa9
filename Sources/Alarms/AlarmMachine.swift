import Collector
import Fleet
import NearbyCore
import Telemetry

/// Watches what comes in for the conditions of alarms. Each tells when it begins to hold, and when
/// it no longer does; nothing in between.
///
/// Readings that come late, because they had to wait on their board, change nothing: an alarm is
/// about now.
public struct AlarmMachine: Sendable {
    public enum Input: Sendable {
        case born(PeerID, Birth)
        case delivered(Delivery)
        /// These nodes are in reach.
        case reachable([PeerID])
        /// What held when the program, or the rules before these, ended: it is not told again, but
        /// for the end of alarms that no rule matches any more. Nodes that are known have from now
        /// on to be heard. `unixOffset` added to our clock gives UTC.
        case restored(AlarmRecord, unixOffset: Duration)
        case deadlineReached
    }

    public enum Output: Hashable, Sendable {
        case changed(AlarmChange)
    }

    private enum State {
        case pending(since: Instant, facts: Facts)
        case active(since: Instant, facts: Facts)
    }

    private struct Facts {
        var node: String
        var unit: Unit
        var value: String
    }

    public let rules: [AlarmRule]
    private let words: FleetWords
    private var nodes: [PeerID: AlarmNode] = [:]
    private var channelCount = 0
    /// What does not hold has no entry.
    private var states: [AlarmKey: State] = [:]
    /// Of these, those whose channel the node's run does not have, and since when.
    private var missing: [AlarmKey: Instant] = [:]
    /// The oldest first.
    private var ended: [AlarmChange] = []
    private var nextTick: Instant?
    /// Nodes, channels and conditions for which there was no room.
    public private(set) var overflowCount: UInt64 = 0

    /// How old a reading may be to be news.
    private static let newsAge = Duration.seconds(60)
    /// A channel that its node, although heard, has not had for so long does not come any more.
    private static let missingAge = Duration.seconds(600)
    static let endedAge = Duration.seconds(86_400)
    private static let tick = Duration.seconds(1)

    /// - Parameter former: the machine with the rules before these: pending alarms go on if their
    ///   rule is unchanged, and it is known when nodes were last heard, and which alarms ended.
    public init(
        rules: [AlarmRule], words: FleetWords = .none, after former: AlarmMachine? = nil
    ) {
        self.rules = rules
        self.words = words
        if let former { takeOver(former) }
    }

    /// Nil where nothing is configured.
    public var nextDeadline: Instant? { rules.isEmpty ? nil : nextTick }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        if case .restored(let record, let unixOffset) = input {
            return restore(record, unixOffset, now)
        }
        guard !rules.isEmpty else { return [] }
        var outputs: [Output] = []
        if nextTick == nil { nextTick = now + Self.tick }
        switch input {
        case .born(let peer, let birth):
            adopt(birth, of: peer, now, &outputs)
            hear(peer, now, &outputs)
        case .delivered(let delivery):
            adopt(delivery.birth, of: delivery.peer, now, &outputs)
            hear(delivery.peer, now, &outputs)
            for reading in delivery.readings { measure(reading, of: delivery, now, &outputs) }
        case .reachable(let peers):
            for peer in peers where nodes[peer] != nil { hear(peer, now, &outputs) }
        case .deadlineReached:
            guard let due = nextTick, now >= due else { break }
            nextTick = now + Self.tick
            look(now, &outputs)
        case .restored: break
        }
        return outputs
    }

    // MARK: What is shown and kept

    /// Those that hold, then those that ended within a day.
    ///
    /// - Parameter unixOffset: added to our clock gives UTC.
    public func alarms(unixOffset: Duration, now: Instant) -> [FleetAlarm] {
        let active = states.keys.sorted().compactMap { key -> FleetAlarm? in
            guard case .active(let since, let facts)? = states[key] else { return nil }
            return FleetAlarm(change(key, since, facts, isActive: true, since), unixOffset, self)
        }
        let past = ended.filter { now - $0.time < Self.endedAge }
            .map { FleetAlarm($0, unixOffset, self) }
        return active + past.reversed()
    }

    /// Whose silence is watched, for the next start of the program.
    public var knownNodes: [AlarmRecord.NamedNode] {
        nodes.filter { !$0.value.rules.isEmpty }
            .map { AlarmRecord.NamedNode(peer: $0.key, name: $0.value.name) }.sorted {
                $0.peer < $1.peer
            }
    }

    // MARK: What was before

    private mutating func takeOver(_ former: AlarmMachine) {
        for (key, state) in former.states {
            guard case .pending = state, let rule = rules.firstIndex(of: former.rules[key.rule])
            else { continue }
            states[AlarmKey(rule: rule, peer: key.peer, channel: key.channel)] = state
        }
        for (peer, node) in former.nodes {
            nodes[peer] = AlarmNode(after: node, of: peer, rules: rules)
        }
        ended = former.ended.map { change in
            var change = change
            change.rule = rules.firstIndex { $0.name == change.name }
            return change
        }
    }

    private mutating func restore(
        _ record: AlarmRecord, _ unixOffset: Duration, _ now: Instant
    ) -> [Output] {
        var outputs: [Output] = []
        if ended.isEmpty {
            ended = record.ended.suffix(Limits.alarmEndedMax).map { end in
                let rule = rules.firstIndex { $0.name == end.notice.name }
                return AlarmChange(end, rule: rule, unixOffset: unixOffset)
            }
        }
        for node in record.nodes.prefix(Limits.alarmNodesMax) where nodes[node.peer] == nil {
            nodes[node.peer] = AlarmNode(name: node.name, peer: node.peer, rules: rules, now: now)
        }
        for alarm in record.alarms.map(\.notice) where states.count < Limits.alarmStatesMax {
            let index = rules.firstIndex { $0.name == alarm.name }
            guard let index, rules[index].isMeant(for: alarm.peer, named: alarm.node),
                rules[index].isAbout(alarm.channel)
            else {
                var end = AlarmChange(
                    alarm, rule: index, isActive: false, value: "", time: now,
                    unixOffset: unixOffset)
                end.isUnwatched = true
                outputs.append(.changed(end))
                continue
            }
            let since = Instant(
                nanoseconds: alarm.since.subtractingSaturating(unixOffset.nanoseconds))
            states[AlarmKey(rule: index, peer: alarm.peer, channel: alarm.channel)] = .active(
                since: min(since, now),
                facts: Facts(node: alarm.node, unit: Unit(alarm.unit) ?? .none, value: ""))
        }
        return outputs
    }

    // MARK: Nodes

    private mutating func adopt(
        _ birth: Birth, of peer: PeerID, _ now: Instant, _ outputs: inout [Output]
    ) {
        if let node = nodes[peer], node.knows(birth) || node.isPast(birth) { return }
        guard nodes[peer] != nil || nodes.count < Limits.alarmNodesMax else {
            overflowCount &+= 1
            return
        }
        var node =
            nodes[peer]
            ?? AlarmNode(name: birth.node.name, peer: peer, rules: rules, now: now)
        channelCount -= node.channelCount
        overflowCount &+= UInt64(
            node.adopt(
                birth, of: peer, rules, words, room: Limits.alarmChannelsMax - channelCount))
        channelCount += node.channelCount
        nodes[peer] = node
        for key in states.keys.sorted() where key.peer == peer {
            switch node.standing(of: key, rules) {
            case .watched: missing[key] = nil
            case .missing: missing[key] = missing[key] ?? now
            // No reading will tell.
            case .over: end(key, value: nil, now, &outputs)
            }
        }
    }

    private mutating func hear(_ peer: PeerID, _ now: Instant, _ outputs: inout [Output]) {
        guard let node = nodes[peer] else { return }
        nodes[peer]?.hear(now)
        for rule in node.rules {
            end(AlarmKey(rule: rule, peer: peer, channel: ""), value: "", now, &outputs)
        }
    }

    // MARK: Conditions

    private mutating func measure(
        _ reading: Reading, of delivery: Delivery, _ now: Instant, _ outputs: inout [Output]
    ) {
        let time = min(reading.time + delivery.offset, now)
        guard now - time <= Self.newsAge,
            let watched = nodes[delivery.peer]?.watched(reading.channel, at: time)
        else { return }
        let outcome = watched.map(reading.outcome)
        let facts = Facts(
            node: nodes[delivery.peer]?.name ?? "", unit: watched.unit,
            value: Self.text(outcome, watched.unit))
        for index in watched.rules {
            let key = AlarmKey(rule: index, peer: delivery.peer, channel: watched.name)
            switch rules[index].verdict(outcome) {
            case .holds: begin(key, facts, since: time, now, &outputs)
            case .isOver: end(key, value: facts.value, now, &outputs)
            case .neither: if case .pending? = states[key] { states[key] = nil }
            }
        }
    }

    /// It holds since then at the latest.
    private mutating func begin(
        _ key: AlarmKey, _ facts: Facts, since time: Instant, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        var since = time
        switch states[key] {
        case .active: return
        case .pending(let earlier, _): since = earlier
        case nil:
            guard states.count < Limits.alarmStatesMax else {
                overflowCount &+= 1
                return
            }
        }
        guard now - since >= rules[key.rule].hold else {
            states[key] = .pending(since: since, facts: facts)
            return
        }
        states[key] = .active(since: since, facts: facts)
        outputs.append(.changed(change(key, since, facts, isActive: true, now)))
    }

    /// - Parameter value: nil: nothing is watched any more that could tell.
    private mutating func end(
        _ key: AlarmKey, value: String?, _ now: Instant, _ outputs: inout [Output]
    ) {
        missing[key] = nil
        guard let state = states.removeValue(forKey: key),
            case .active(let since, var facts) = state
        else { return }
        facts.value = value ?? ""
        var change = change(key, since, facts, isActive: false, now)
        change.isUnwatched = value == nil
        ended.append(change)
        if ended.count > Limits.alarmEndedMax { ended.removeFirst() }
        outputs.append(.changed(change))
    }

    /// What began to hold a while ago, what a node has not had for long, who was silent for long.
    private mutating func look(_ now: Instant, _ outputs: inout [Output]) {
        for key in states.keys.sorted() {
            guard case .pending(let since, let facts)? = states[key] else { continue }
            begin(key, facts, since: since, now, &outputs)
        }
        for (key, since) in missing.sorted(by: { $0.key < $1.key }) {
            guard let node = nodes[key.peer], node.lastHeard - since >= Self.missingAge else {
                continue
            }
            end(key, value: nil, now, &outputs)
        }
        for (peer, node) in nodes.sorted(by: { $0.key < $1.key }) {
            for rule in node.rules where now - node.lastHeard >= rules[rule].hold {
                let facts = Facts(node: node.name, unit: .none, value: "")
                let key = AlarmKey(rule: rule, peer: peer, channel: "")
                begin(key, facts, since: node.lastHeard, now, &outputs)
            }
        }
    }

    private func change(
        _ key: AlarmKey, _ since: Instant, _ facts: Facts, isActive: Bool, _ now: Instant
    ) -> AlarmChange {
        let rule = rules[key.rule]
        return AlarmChange(
            rule: key.rule, name: rule.name, peer: key.peer, node: facts.node,
            channel: key.channel, condition: rule.text(facts.unit), unit: facts.unit,
            value: facts.value, isActive: isActive, since: since, time: now)
    }

    private static func text(_ outcome: Outcome, _ unit: Unit) -> String {
        switch outcome {
        case .value(let value):
            unit.symbol.isEmpty ? "\(value)" : "\(value) \(unit.symbol)"
        case .null(let reason): reason.description
        }
    }
}

extension FleetAlarm {
    fileprivate init(_ change: AlarmChange, _ unixOffset: Duration, _ machine: AlarmMachine) {
        self.init(
            name: change.name, node: change.node, channel: change.channel,
            condition: change.condition, isActive: change.isActive,
            since: (change.since + unixOffset).nanoseconds,
            until: change.isActive ? nil : (change.time + unixOffset).nanoseconds)
        peer = change.peer
        isPublished = change.rule.map { machine.rules[$0].isPublished } ?? false
    }
}
