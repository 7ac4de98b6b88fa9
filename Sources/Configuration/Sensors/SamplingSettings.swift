import NearbyCore
import Telemetry

/// What becomes of a sensor's values before they are readings: keys of every driver.
public struct SamplingSettings: Equatable, Sendable {
    /// Of channels without one of their own.
    public var shape: ChannelShape
    /// By the channel's name as the driver gives it.
    public var channels: [String: ChannelShape]
}

extension SamplingSettings {
    private static let worth = [
        Key(
            "deadband", .change, .described("each value is given"),
            "Values that differ less from the last one given are left out: in the channel's unit, "
                + "or a share of that value."),
        Key(
            "max-silence", .duration(.milliseconds(10) ... .seconds(86_400)),
            .described("`5min` with a deadband"),
            "After this time a value is given even if it has not changed enough."),
        Key(
            "samples", .integer(1...Limits.samplesPerValueMax), .value("1"),
            "So many samples become one value."),
        Key(
            "reduce", .choice(["median", "mean"]), .value("median"),
            "How: the one in the middle, or their mean."),
    ]

    static let keys =
        worth + [
            Key(
                "channels", .namedSections(most: 128), .described("all alike"),
                "What holds for a channel alone, by the driver's name for it: see "
                    + "`sensors.channels`.")
        ]

    static let channelTable = KeyTable(
        "sensors.channels",
        [
            Key("name", .text(1...63), .described("the driver's"), "What it is called instead."),
            Key(
                "unit", .text(1...24), .described("the driver's"),
                "The unit to convert its values to, such as hPa, kWh or [degF] (UCUM)."),
            Key("scale", .decimal, .value("1"), "Its values are multiplied by this."),
            Key("offset", .decimal, .value("0"), "Then this is added, in the driver's unit."),
            Key("leave-out", .flag, .value("false"), "It is not given at all."),
        ] + worth)

    init(_ section: Section) {
        let shape = ChannelShape(worth: section, from: ChannelShape())
        self.shape = shape
        channels = section.namedSections("channels", Self.channelTable).mapValues {
            ChannelShape($0, from: shape)
        }
        let names = channels.compactMap(\.value.name)
        for name in names where names.filter({ $0 == name }).count > 1 {
            section.add("channels", "two channels are called \(PlainText.shown(name))")
            break
        }
    }
}

extension ChannelShape {
    /// The keys that sensors and channels share.
    fileprivate init(worth section: Section, from outer: ChannelShape) {
        self = outer
        if section.node("deadband") != nil { deadband = Self.deadband(section) }
        if section.node("max-silence") != nil {
            silence = section.durationIfGiven("max-silence")
        } else if deadband != .none, silence == nil {
            silence = .seconds(300)
        }
        if section.node("samples") != nil { samples = section.integer("samples") }
        if section.node("reduce") != nil {
            reduction = section.text("reduce") == "mean" ? .mean : .median
        }
    }

    fileprivate init(_ section: Section, from outer: ChannelShape) {
        self.init(worth: section, from: outer)
        name = section.text("name")
        scale = Self.decimal(section, "scale")
        offset = Self.decimal(section, "offset")
        isLeftOut = section.flag("leave-out")
        if case .sequence = section.node("unit")?.value {
            section.add(
                "unit", "unit stands in brackets without quotation marks; write \"[degF]\"")
        } else {
            unit = section.text("unit")
        }
        if scale.coefficient == 0 { section.add("scale", "scale is 0; every value would be 0") }
        if let unit, !UnitConversion.knows(unit) {
            section.add(
                "unit",
                "unit is \(PlainText.shown(unit)), to which nothing can be converted; "
                    + UnitWords.advice(for: unit))
        }
    }

    private static func decimal(_ section: Section, _ key: String) -> DecimalValue {
        (try? DecimalValue(parsing: section.decimal(key))) ?? DecimalValue(coefficient: 0)
    }

    private static func deadband(_ section: Section) -> Deadband {
        guard let text = section.change("deadband") else { return .none }
        let isShare = text.hasSuffix("%")
        guard let value = try? DecimalValue(parsing: isShare ? text.dropLast() : text[...]),
            value.coefficient != 0
        else { return .none }
        return isShare ? .relative(value) : .absolute(value)
    }
}
