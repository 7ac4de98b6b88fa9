import Telemetry

/// A channel before it has a value.
struct ExpectedChannel: Equatable, Sendable {
    var name: String
    var unit: String

    init(_ name: String, _ unit: String) {
        self.name = name
        self.unit = unit
    }

    func null(_ reason: NullReason) -> Measurement { Measurement(name, unit, .null(reason)) }

    func value(_ coefficient: Int64, exponent: Int8 = 0) -> Measurement {
        Measurement(name, unit, coefficient, exponent: exponent)
    }
}
