/// The payload of Sparkplug B 3.0 messages (§6.4.1), as far as we speak it.
struct SparkplugPayload: Hashable, Sendable {
    /// Milliseconds since 1970.
    var timestamp: Int64
    /// Nil in a death certificate of the edge node.
    var sequence: UInt8?
    var metrics: [SparkplugMetric] = []

    var bytes: [UInt8] {
        var writer = ProtobufWriter()
        writer.write(1, unsigned: UInt64(max(0, timestamp)))
        for metric in metrics { writer.write(2) { metric.emit(into: &$0) } }
        if let sequence { writer.write(3, unsigned: UInt64(sequence)) }
        return writer.bytes
    }
}

struct SparkplugMetric: Hashable, Sendable {
    enum Value: Hashable, Sendable {
        case int64(Int64)
        case double(Double)
        case boolean(Bool)
        case string(String)
        /// No value, of what should be a Double; why, for people.
        case null(String)

        /// Of the table of data types (§6.4.16).
        var datatype: UInt64 {
            switch self {
            case .int64: 4
            case .double, .null: 10
            case .boolean: 11
            case .string: 12
            }
        }
    }

    /// Only in births, and where there is no alias.
    var name: String?
    var alias: UInt64?
    /// Milliseconds since 1970.
    var timestamp: Int64
    var isHistorical = false
    /// Only in births.
    var hasDatatype = false
    /// The property `engUnit`.
    var unit: String?
    var value: Value

    func emit(into writer: inout ProtobufWriter) {
        if let name { writer.write(1, text: name) }
        if let alias { writer.write(2, unsigned: alias) }
        writer.write(3, unsigned: UInt64(max(0, timestamp)))
        if hasDatatype { writer.write(4, unsigned: value.datatype) }
        if isHistorical { writer.write(5, flag: true) }
        if case .null = value { writer.write(7, flag: true) }
        let properties = self.properties
        if !properties.isEmpty {
            writer.write(9) { set in
                for property in properties { set.write(1, text: property.key) }
                for property in properties { set.write(2) { property.emit(into: &$0) } }
            }
        }
        switch value {
        case .int64(let value): writer.write(11, unsigned: UInt64(bitPattern: value))
        case .double(let value): writer.write(13, double: value)
        case .boolean(let value): writer.write(14, flag: value)
        case .string(let value): writer.write(15, text: value)
        case .null: break
        }
    }

    private struct Property {
        var key: String
        var number: UInt64?
        var text: String?

        func emit(into writer: inout ProtobufWriter) {
            // Int32, or String.
            writer.write(1, unsigned: number == nil ? 12 : 3)
            if let number { writer.write(3, unsigned: number) }
            if let text { writer.write(8, text: text) }
        }
    }

    /// `Quality` is the specification's own (§6.4.15): 0 bad, 192 good.
    private var properties: [Property] {
        var properties: [Property] = []
        if let unit, !unit.isEmpty { properties.append(Property(key: "engUnit", text: unit)) }
        if case .null(let reason) = value {
            properties.append(Property(key: "Quality", number: 0))
            properties.append(Property(key: "reason", text: reason))
        }
        return properties
    }
}

/// What a host commands an edge node: of NCMD only what every edge node must understand.
enum SparkplugCommand {
    /// Whether `Node Control/Rebirth` is commanded. It has no alias (§6.4.19).
    static func isRebirth(_ payload: [UInt8]) -> Bool {
        var reader = ProtobufReader(payload[...])
        while let (field, value) = reader.next() {
            guard field == 2, case .bytes(let metric) = value else { continue }
            if isRebirth(metric: metric) { return true }
        }
        return false
    }

    private static func isRebirth(metric: ArraySlice<UInt8>) -> Bool {
        var reader = ProtobufReader(metric)
        var isNamed = false
        var isTrue = false
        while let (field, value) = reader.next() {
            switch (field, value) {
            case (1, .bytes(let name)):
                isNamed = name.elementsEqual(SparkplugEdge.rebirth.utf8)
            case (14, .number(let flag)): isTrue = flag != 0
            default: break
            }
        }
        return isNamed && isTrue
    }
}
