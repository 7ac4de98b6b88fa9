import NearbyCore

/// What becomes of a channel's values before they are readings.
///
/// In this order: several samples become one, scale and offset are applied, the unit is changed,
/// and what has hardly changed is left out.
public struct ChannelShape: Equatable, Sendable {
    /// How much a value must differ from the last one that was given.
    public enum Deadband: Equatable, Sendable {
        case none
        /// In the channel's unit as it is given.
        case absolute(DecimalValue)
        /// Per cent of the last value given.
        case relative(DecimalValue)
    }

    public enum Reduction: Equatable, Sendable { case median, mean }

    public var deadband = Deadband.none
    /// A value is given after so long even if it has not changed; nil: never.
    public var silence: Duration?
    /// How many samples become one; 1: each is given.
    public var samples = 1
    public var reduction = Reduction.median
    public var scale = DecimalValue(coefficient: 1)
    public var offset = DecimalValue(coefficient: 0)
    /// The unit to change into, where the channel's measures the same; nil: as it is.
    public var unit: String?
    /// What the channel is called instead.
    public var name: String?
    public var isLeftOut = false

    public init() {}
}

extension Limits {
    /// Samples that become one value.
    public static let samplesPerValueMax = 60
}
