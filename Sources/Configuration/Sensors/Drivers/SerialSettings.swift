import Glibc

/// A sensor on a serial line: the `serial` driver.
public struct SerialSettings: Sendable {
    public enum Spoken: String, Sendable, CaseIterable {
        case pms5003, pms7003, sds011
        case mhz19 = "mh-z19"
        case nmea, line
    }

    public var device: String
    public var spoken: Spoken
    public var baud: Int
    /// A POSIX extended regular expression with a group a channel; lines are numbers without it.
    public var pattern: String?
    /// Of the pattern's groups.
    public var channels: [(name: String, unit: String)]
    public var name: String?
    public var unit: String
    /// Nil: found from the period.
    public var expiresAfter: Duration?
}

extension SensorSettings.Kind {
    static let serial = Self(
        name: "serial",
        keys: [
            Key(
                "device", .path, .required,
                "The port, such as /dev/serial0, or one below /dev/serial/by-id, which keeps its "
                    + "name."),
            Key(
                "protocol", .choice(SerialSettings.Spoken.allCases.map(\.rawValue)), .required,
                "What the device speaks; `line`: lines of text."),
            Key(
                "baud", .choice(SerialSettings.speeds.map(String.init)), .value("9600"),
                "Bits a second, with eight data bits, no parity, one stop bit."),
            Key(
                "pattern", .text(1...400), .described("each line is numbers"),
                "For `line`: a POSIX extended regular expression; each group is a channel. "
                    + "Without it a line is a number, a JSON object of numbers or an InfluxDB "
                    + "line."),
            Key(
                "groups", .list(element: "a name, or a name, a space and a unit", most: 32),
                .described("none"), "The channels of the pattern's groups, in their order."),
            Key(
                "name", .text(1...63), .described("nothing"),
                "What the channels' names begin with; for lines of a number alone, the channel."),
            Key(
                "unit", .text(1...24), .value("1"),
                "For `line` without a pattern: a unit's name after SenML, such as Cel; 1 for "
                    + "none."),
            Key(
                "expires-after", .duration(.seconds(1) ... .seconds(86_400)),
                .described("three periods, at least 10s"),
                "Where nothing new came for so long, there is no value."),
        ]
    ) { section in SerialSettings(section).map { .serial($0) } }
}

extension SerialSettings {
    static let speeds = [
        1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 921_600,
    ]

    fileprivate init?(_ section: Section) {
        guard let device = section.text("device"), let spoken: Spoken = section.choice("protocol")
        else { return nil }
        self.device = device
        self.spoken = spoken
        baud = section.text("baud").flatMap { Int($0) } ?? 9_600
        pattern = section.text("pattern")
        name = section.text("name")
        unit = section.text("unit") ?? "1"
        expiresAfter = section.durationIfGiven("expires-after")
        channels = section.list("groups") { (1...2).contains($0.split(separator: " ").count) }
            .map { entry in
                let words = entry.text.split(separator: " ").map(String.init)
                return (words[0], words.count > 1 ? words[1] : "1")
            }
        if !device.hasPrefix("/"), !device.hasPrefix("~") {
            section.add("device", "device must be a full path, such as /dev/serial0")
        }
        check(section)
    }

    /// That the keys go together.
    private func check(_ section: Section) {
        if spoken != .line {
            for key in ["pattern", "groups", "unit"] where section.node(key) != nil {
                section.add(key, "\(key) is for protocol: line; leave it out")
            }
            return
        }
        if unit.contains(" ") {
            section.add("unit", "unit has a space; write a unit's name such as Cel, %RH or ppm")
        }
        UnitWords.check("unit", unit, section)
        guard let pattern else {
            if section.node("groups") != nil {
                section.add("groups", "groups belong to a pattern; add one, or leave them out")
            }
            return
        }
        for channel in channels { UnitWords.check("groups", channel.unit, section) }
        if section.node("unit") != nil {
            section.add("unit", "with a pattern the units stand in groups: [temperature Cel]")
        }
        if let fault = PatternAdvice.fault(pattern) { return section.add("pattern", fault) }
        switch Self.groupCount(pattern) {
        case .failure(let fault):
            section.add("pattern", "pattern is not a regular expression: \(fault)")
        case .success(let count) where count != channels.count && !hasBadChannels(section):
            section.add(
                section.node("groups") == nil ? "pattern" : "groups",
                "pattern has \(count) groups in brackets and groups has \(channels.count) names; "
                    + "there must be one for each")
        case .success(0):
            section.add("pattern", "pattern has no group; put brackets around the number")
        case .success: break
        }
    }

    /// Whether an entry was told of already.
    private func hasBadChannels(_ section: Section) -> Bool {
        guard case .sequence(let items) = section.node("groups")?.value else { return false }
        return items.count != channels.count
    }

    private struct PatternFault: Error, CustomStringConvertible {
        let description: String
    }

    /// How many groups a regular expression has.
    private static func groupCount(_ pattern: String) -> Result<Int, PatternFault> {
        var compiled = regex_t()
        let code = regcomp(&compiled, pattern, REG_EXTENDED)
        guard code == 0 else {
            var text = [CChar](repeating: 0, count: 128)
            _ = regerror(code, &compiled, &text, text.count)
            let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            return .failure(PatternFault(description: String(decoding: bytes, as: UTF8.self)))
        }
        defer { regfree(&compiled) }
        return .success(Int(compiled.re_nsub))
    }
}
