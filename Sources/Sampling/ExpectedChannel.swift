import Telemetry

/// A channel before it has a value.
package struct ExpectedChannel: Equatable, Sendable {
    package var name: String
    package var unit: String

    package init(_ name: String, _ unit: String) {
        self.name = name
        self.unit = unit
    }

    package func null(_ reason: NullReason) -> Measurement {
        Measurement(name, unit, .null(reason))
    }

    package func value(_ coefficient: Int64, exponent: Int8 = 0) -> Measurement {
        Measurement(name, unit, coefficient, exponent: exponent)
    }
}
