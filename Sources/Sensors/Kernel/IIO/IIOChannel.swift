/// One input channel of an IIO device, told by the name of its attribute
/// (Documentation/ABI/testing/sysfs-bus-iio of the kernel):
///
///     in_ type [index] [-type index] [_modifier …] _raw | _input
struct IIOChannel: Equatable, Sendable {
    /// What its attributes' names begin with: `in_voltage0-voltage1`, `in_accel_x`.
    var base: String
    /// `voltage`, `accel`.
    var type: String
    /// The type with its numbers: `voltage0-voltage1`.
    private var head: String
    /// What follows: `x`, `ambient`, `supply`.
    private var tail: [String]
    /// Whether the kernel gives it in the type's unit; otherwise raw.
    var isProcessed: Bool

    /// Nil for an attribute that is no input's value.
    init?(attribute: String) {
        let suffixes = [("_input", true), ("_raw", false)]
        guard attribute.hasPrefix("in_"),
            let (suffix, isProcessed) = suffixes.first(where: { attribute.hasSuffix($0.0) }),
            attribute.utf8.count > 3 + suffix.utf8.count
        else { return nil }
        self.init(base: String(attribute.dropLast(suffix.count)), isProcessed: isProcessed)
    }

    /// Nil if nothing is left for a type.
    init?(base: String, isProcessed: Bool) {
        guard base.hasPrefix("in_") else { return nil }
        let parts = base.dropFirst(3).split(separator: "_").map(String.init)
        guard let head = parts.first else { return nil }
        let type = head.prefix { $0.isLetter }
        guard !type.isEmpty, type != "timestamp" else { return nil }
        self.base = base
        self.type = String(type)
        self.head = head
        tail = Array(parts.dropFirst())
        self.isProcessed = isProcessed
    }

    /// Four numbers, x, y, z and w, without a unit.
    var isQuaternion: Bool { tail == ["quaternion"] }

    /// The attribute with its value.
    var attribute: String { base + (isProcessed ? "_input" : "_raw") }

    /// The names under which `scale` or `offset` may lie, the channel's own first: it may be shared
    /// by all of its type, of its modifier, or by the whole device.
    func attributes(_ kind: String) -> [String] {
        let plain = head.filter { !$0.isNumber }
        let names = [
            base, (["in", plain] + tail).joined(separator: "_"), "in_\(head)", "in_\(plain)",
            "in_\(type)", "in",
        ]
        var unique: [String] = []
        for name in names where !unique.contains(name) { unique.append(name) }
        return unique.map { "\($0)_\(kind)" } + [kind]
    }

    /// The channel for people: `temperature`, `voltage0`, `acceleration.x`, `concentration.co2`.
    var name: String {
        let word = IIOQuantity.named(type)?.word ?? type
        let numbered = word + head.dropFirst(type.count)
        return ([numbered] + tail).joined(separator: ".")
    }

    /// The channels among a device's attributes, in the order of their names. One that the kernel
    /// gives both ways is taken as processed.
    static func all(in attributes: [String]) -> [IIOChannel] {
        let all = attributes.compactMap { IIOChannel(attribute: $0) }
        let processed = Set(all.filter(\.isProcessed).map(\.base))
        return all.filter { $0.isProcessed || !processed.contains($0.base) }
            .sorted { $0.base < $1.base }
    }
}
