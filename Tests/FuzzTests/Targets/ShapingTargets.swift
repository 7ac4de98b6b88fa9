import NearbyCore
import Telemetry

@testable import Sampling
@testable import Sensors
@testable import Store

extension FuzzTarget {
    /// What becomes of numbers that came from outside.
    static let shaping: [FuzzTarget] = [
        FuzzTarget("unit") { convert($0) },
        FuzzTarget("shape") { shape($0) },
        FuzzTarget("utc") { bytes in
            guard let time = UTCText.parse(String(decoding: bytes, as: UTF8.self)) else { return }
            // With an offset, or by a leap second, a time may lie before 1970 or after 2200.
            guard let again = UTCText.parse(UTCText.text(time)) else {
                precondition(time < 0 || time >= 7_289_654_400_000_000_000, "\(time) has no text")
                return
            }
            // Milliseconds are printed.
            precondition(abs(again - time) < 1_000_000, "\(time) is not what it was")
        },
    ]

    private static let names = UnitConversion.names

    /// From 1 | to 1 | a number: there and back again, it is the same at its last place.
    private static func convert(_ bytes: [UInt8]) {
        guard bytes.count > 2,
            let value = try? DecimalValue(
                parsing: String(decoding: bytes.dropFirst(2), as: UTF8.self))
        else { return }
        let from = names[Int(bytes[0]) % names.count]
        let targets = UnitConversion.targets(of: from)
        guard !targets.isEmpty else { return }
        let target = targets[Int(bytes[1]) % targets.count]
        let there = UnitConversion(from: from, to: target)
        let back = UnitConversion(from: target, to: from)
        guard let there, let back else { preconditionFailure("\(from) is not \(target)") }
        guard let other = there(value), let again = back(other) else { return }
        let rounded = again.rescaled(to: value.exponent)
        precondition(
            rounded == nil || rounded == value, "\(value) \(from) is \(other) \(target), \(again)")
    }

    /// Lines: scale, offset, deadband, number of samples and `m` for their mean, two bytes that
    /// choose units; then values.
    private static func shape(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 5 else { return }
        let units = lines[4].utf8.map { names[Int($0) % names.count] }
        var shape = ChannelShape()
        shape.scale = (try? DecimalValue(parsing: lines[0])) ?? shape.scale
        shape.offset = (try? DecimalValue(parsing: lines[1])) ?? shape.offset
        if let band = try? DecimalValue(parsing: lines[2].prefix { $0 != "%" }) {
            shape.deadband = lines[2].hasSuffix("%") ? .relative(band) : .absolute(band)
        }
        shape.samples = lines[3].utf8.first.map { Int($0) - 0x30 } ?? 1
        shape.reduction = lines[3].hasSuffix("m") ? .mean : .median
        shape.unit = units.first
        var sampler = Sampler(shape)
        var now = Instant.zero
        for line in lines.dropFirst(5) {
            let unit = units.last ?? "Cel"
            let measurement = Measurement("c", unit, number: line)
            let given = sampler.shape([measurement], now: now)
            check(given, most: 1)
            now = now + .seconds(1)
        }
    }
}
