import Telemetry

/// What a hwmon attribute's name begins with, and the unit of its number
/// (Documentation/hwmon/sysfs-interface.rst of the kernel).
struct HwmonQuantity: Equatable, Sendable {
    var type: String
    var unit: String
    /// The number times 10 to this is in `unit`.
    var exponent: Int8
    /// It has no number, only an alarm.
    var isFlag = false

    static let all: [HwmonQuantity] = [
        HwmonQuantity(type: "temp", unit: "Cel", exponent: -3),
        HwmonQuantity(type: "humidity", unit: "%RH", exponent: -3),
        HwmonQuantity(type: "in", unit: "V", exponent: -3),
        HwmonQuantity(type: "curr", unit: "A", exponent: -3),
        HwmonQuantity(type: "power", unit: "W", exponent: -6),
        HwmonQuantity(type: "energy", unit: "J", exponent: -6),
        // Revolutions per minute.
        HwmonQuantity(type: "fan", unit: "1/min", exponent: 0),
        // Not in that document, but given by graphics drivers (Documentation/gpu/amdgpu).
        HwmonQuantity(type: "freq", unit: "Hz", exponent: 0),
        // 0 to 255 in the kernel.
        HwmonQuantity(type: "pwm", unit: "%", exponent: -1),
        HwmonQuantity(type: "intrusion", unit: "1", exponent: 0, isFlag: true),
    ]
}

/// One sensor of a hwmon chip: `temp1` with its attributes.
struct HwmonSensor: Sendable {
    var quantity: HwmonQuantity
    var number: Int
    /// What follows the number in its attributes' names; empty for `pwm1` itself.
    var attributes: [String]

    /// The sensors among a chip's attributes, by quantity and number.
    static func all(in names: [String]) -> [HwmonSensor] {
        var found: [String: HwmonSensor] = [:]
        for name in names {
            let type = name.prefix { $0.isLetter }
            let digits = name.dropFirst(type.count).prefix { $0.isASCII && $0.isNumber }
            let rest = name.dropFirst(type.count + digits.count)
            guard let quantity = HwmonQuantity.all.first(where: { $0.type == type }),
                (1...4).contains(digits.count), let number = Int(digits),
                rest.isEmpty || rest.first == "_"
            else { continue }
            let key = "\(type)\(digits)"
            let empty = HwmonSensor(quantity: quantity, number: number, attributes: [])
            found[key, default: empty].attributes.append(String(rest.dropFirst()))
        }
        let order = HwmonQuantity.all.map(\.type)
        let place = { (sensor: HwmonSensor) in
            (order.firstIndex(of: sensor.quantity.type) ?? 0, sensor.number)
        }
        return found.values.sorted { place($0) < place($1) }
    }

    private var stem: String { "\(quantity.type)\(number)" }

    /// Its label, otherwise `temp1`.
    func name(in folder: String) -> String {
        guard attributes.contains("label"),
            let label = try? SensorFile.attribute("\(folder)/\(stem)_label").get()
        else { return stem }
        return KernelDevice.plain(label)
    }

    /// Nil where it has none, or is switched off. A set fault flag makes it null: a thermocouple
    /// that is torn off, a fan that stands.
    func value(in folder: String) -> Outcome? {
        guard let attribute = valueAttribute else { return nil }
        if attributes.contains("enable"), quantity.type != "pwm",
            case .success(0) = SensorFile.integer("\(folder)/\(stem)_enable")
        {
            return nil
        }
        if attributes.contains("fault") {
            switch SensorFile.integer("\(folder)/\(stem)_fault") {
            case .success(0): break
            case .success: return .null(.failed)
            case .failure(let fault): return .null(fault.reason)
            }
        }
        switch SensorFile.integer("\(folder)/\(stem)\(attribute)") {
        case .failure(let fault): return .null(fault.reason)
        case .success(let number): return outcome(number)
        }
    }

    /// Nil where it has no alarm flags.
    func alarm(in folder: String) -> Outcome? {
        let alarms = attributes.filter { $0 == "alarm" || $0.hasSuffix("_alarm") }
        guard !alarms.isEmpty else { return nil }
        var isSet = false
        for alarm in alarms {
            switch SensorFile.integer("\(folder)/\(stem)_\(alarm)") {
            case .success(let flag): isSet = isSet || flag != 0
            case .failure(let fault): return .null(fault.reason)
            }
        }
        return .value(DecimalValue(coefficient: isSet ? 1 : 0))
    }

    private var valueAttribute: String? {
        if quantity.isFlag { return nil }
        if quantity.type == "pwm" { return attributes.contains("") ? "" : nil }
        // Some power meters give nothing but a mean.
        return ["input", "average"].first { attributes.contains($0) }.map { "_" + $0 }
    }

    private func outcome(_ number: Int64) -> Outcome {
        guard quantity.type == "pwm" else {
            return .value(DecimalValue(coefficient: number, exponent: quantity.exponent))
        }
        guard (0...255).contains(number) else { return .null(.outOfRange) }
        return .value(
            DecimalValue(coefficient: (number * 1_000 + 127) / 255, exponent: quantity.exponent))
    }
}
