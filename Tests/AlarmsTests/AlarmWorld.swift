import Collector
import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import Alarms

/// One agent with channels `t` (°C) and `h` (%RH), whose readings come when it is told so.
struct AlarmWorld {
    static let peer = PeerID(high: 1, low: 2)

    var machine: AlarmMachine
    private var birth: Birth
    private var sequence: UInt64 = 0

    init(_ rules: [AlarmRule], node: String = "freezer 1") throws {
        machine = AlarmMachine(rules: rules)
        let channels = [("t", Unit.celsius), ("h", Unit.relativeHumidity)].enumerated()
        birth = Birth(
            number: 1, run: RunID(value: 7), boot: BootID(high: 0, low: 1),
            node: try NodeDescription(name: node),
            channels: try channels.map { index, channel in
                Channel(
                    number: UInt16(index + 1),
                    description: try #require(
                        ChannelDescription(name: channel.0, unit: channel.1)))
            })
    }

    static func rule(
        _ condition: AlarmRule.Condition, for hold: Duration = .zero, node: String = "*",
        channel: String = "t", name: String = "warm"
    ) -> AlarmRule {
        AlarmRule(name: name, node: node, channel: channel, condition: condition, hold: hold)
    }

    static func above(_ limit: Int64, hysteresis: Int64 = 0) -> AlarmRule.Condition {
        .above(
            DecimalValue(coefficient: limit), hysteresis: DecimalValue(coefficient: hysteresis))
    }

    /// - Parameter measured: seconds; when it came unless told otherwise.
    mutating func read(
        _ value: Int64?, at seconds: Double, measured: Double? = nil, channel: UInt16 = 1
    ) -> [AlarmChange] {
        let delivery = delivery(value, at: seconds, measured: measured, channel: channel)
        return changes(.delivered(delivery), seconds)
    }

    /// A reading, as `read` has it.
    mutating func delivery(
        _ value: Int64?, at seconds: Double, measured: Double? = nil, channel: UInt16 = 1
    ) -> Delivery {
        sequence += 1
        let reading = Reading(
            sequence: sequence, channel: channel, time: Self.time(measured ?? seconds),
            outcome: value.map { .value(DecimalValue(coefficient: $0)) } ?? .null(.timeout))
        return Delivery(
            peer: Self.peer, birth: birth, readings: [reading], arrival: Self.time(seconds))
    }

    /// The agent begins another run, or, with another birth of it, has other channels.
    mutating func restart(
        at seconds: Double, channels: [String], birth number: UInt16 = 1
    ) throws -> [AlarmChange] {
        birth = Birth(
            number: number, run: RunID(value: 8), boot: birth.boot, node: birth.node,
            channels: try channels.enumerated().map { index, name in
                Channel(
                    number: UInt16(index + 1),
                    description: try #require(ChannelDescription(name: name, unit: .celsius)))
            })
        return changes(.born(Self.peer, birth), seconds)
    }

    /// Another agent, told apart by its number, with the same channels.
    mutating func hear(number: UInt64) {
        let peer = PeerID(high: 2, low: number)
        let delivery = Delivery(
            peer: peer, birth: birth, readings: [], arrival: Self.time(1))
        _ = machine.handle(.delivered(delivery), now: Self.time(1))
    }

    mutating func wait(until seconds: Double) -> [AlarmChange] {
        changes(.deadlineReached, seconds)
    }

    mutating func seen(at seconds: Double) -> [AlarmChange] {
        changes(.reachable([Self.peer]), seconds)
    }

    private mutating func changes(
        _ input: AlarmMachine.Input, _ seconds: Double
    ) -> [AlarmChange] {
        machine.handle(input, now: Self.time(seconds)).map {
            switch $0 {
            case .changed(let change): change
            }
        }
    }

    static func time(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64(seconds * 1_000_000_000))
    }
}
