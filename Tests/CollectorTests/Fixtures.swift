import NearbyCore
import Telemetry

@testable import Collector

/// Births, deliveries and rows for the tests of this room.
enum Fixture {
    static func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    static func peer(_ number: UInt64) -> PeerID { PeerID(high: number, low: number) }

    static func birth(
        run: UInt64 = 0x100, name: String = "north", channels: [(String, Unit, Int8)],
        retired: Int? = nil
    ) throws -> Birth {
        var list: [Channel] = []
        for (index, (name, unit, scale)) in channels.enumerated() {
            guard let description = ChannelDescription(name: name, unit: unit, scale: scale) else {
                throw WireError.invalid(field: name)
            }
            list.append(
                Channel(
                    number: UInt16(index + 1), description: description, isRetired: retired == index
                ))
        }
        let run = RunID(value: run)
        return Birth(
            number: 1, run: run, boot: BootID(high: 1, low: 2),
            node: try NodeDescription(name: name), channels: list)
    }

    static func reading(
        _ sequence: UInt64, channel: UInt16 = 1, at milliseconds: Int64, _ coefficient: Int64,
        scale: Int8 = -2
    ) -> Reading {
        Reading(
            sequence: sequence, channel: channel, time: at(milliseconds),
            outcome: .value(DecimalValue(coefficient: coefficient, exponent: scale)))
    }

    static func report(
        _ birth: Birth, first: UInt64, count: UInt64 = 1, at milliseconds: Int64 = 0
    ) -> [UInt8] {
        let entries = (first..<first + count).map {
            Report.Entry(
                sequence: $0, channel: 1, milliseconds: milliseconds, cell: .scaled(Int64($0)))
        }
        return Report(birth: birth.reference, lowestHeld: first, entries: entries).bytes
    }
}
