import Telemetry

/// What one advertisement of a sensor says, whatever its format.
package struct SensorAdvertisement: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// A level, which changes gradually.
        case level
        /// On or off, 1 or 0.
        case state
        /// Something happened: which of several things is the value.
        case event
    }

    package struct Value: Equatable, Sendable {
        var kind: Kind
        /// What is measured, such as `temperature`: what a channel's name ends with.
        var name: String
        /// SenML's name (RFC 8428 §12.1), otherwise UCUM's; `1` for none.
        var unit: String
        var outcome: Outcome
    }

    package var values: [Value] = []
    /// The device's own number of the measurement: the same one is the same measurement again.
    var sequence: UInt32?
    /// Counted by the device under its key, and proved by it: it only grows.
    package var counter: UInt32?
    /// It speaks when something happens, and is silent otherwise.
    var isTriggered = false

    mutating func add(
        _ name: String, _ unit: String, _ coefficient: Int64, kind: Kind, _ exponent: Int8 = 0
    ) {
        let value = DecimalValue(coefficient: coefficient, exponent: exponent)
        values.append(Value(kind: kind, name: name, unit: unit, outcome: .value(value)))
    }

    /// A level; nil: the device says that it could not measure it, or has no such part.
    mutating func add(
        _ name: String, _ unit: String, _ coefficient: Int64?, _ exponent: Int8 = 0
    ) {
        let outcome: Outcome =
            coefficient.map { .value(DecimalValue(coefficient: $0, exponent: exponent)) }
            ?? .null(.absent)
        values.append(Value(kind: .level, name: name, unit: unit, outcome: outcome))
    }

    mutating func add(_ name: String, isOn: Bool) {
        add(name, "1", isOn ? 1 : 0, kind: .state)
    }
}

/// Why an advertisement gives no values.
package enum AdvertisementFault: Error, Hashable, Sendable {
    /// Shorter than its format, or with a field that cannot be.
    case malformed
    /// A version or a variant of the format that is not read here.
    case unsupported
    /// Encrypted, and there is no key.
    case keyMissing
    /// The key does not open it: another key, or somebody else's doing.
    case forged
    /// In plain text, where a key is configured: anybody can send that.
    case notEncrypted
    /// Older than what was heard already.
    case replayed
}
