/// One unit of a table: what it is in the quantity's base unit.
struct UnitScale: Sendable {
    let name: String
    let numerator: Int64
    let denominator: Int64
    let exponent: Int
    let shift: DecimalValue

    init(
        _ name: String, _ numerator: Int64 = 1, per denominator: Int64 = 1, ten exponent: Int = 0,
        shift: DecimalValue = DecimalValue(coefficient: 0)
    ) {
        self.name = name
        self.numerator = numerator
        self.denominator = denominator
        self.exponent = exponent
        self.shift = shift
    }
}

extension UnitConversion {
    /// SenML's names where it has one (RFC 8428 §12.1, RFC 8798), else UCUM's. The first of each
    /// is the base.
    static let table: [(quantity: Quantity, units: [UnitScale])] = [
        (
            .temperature,
            [
                .init("K"), .init("Cel", shift: DecimalValue(coefficient: 27_315, exponent: -2)),
                .init("mCel", ten: -3, shift: DecimalValue(coefficient: 273_150)),
                .init(
                    "[degF]", 5, per: 9, shift: DecimalValue(coefficient: 45_967, exponent: -2)),
            ]
        ),
        (
            .pressure,
            [
                .init("Pa"), .init("hPa", ten: 2), .init("kPa", ten: 3), .init("MPa", ten: 6),
                .init("mbar", ten: 2), .init("bar", ten: 5),
                .init("mm[Hg]", 133_322_387_415, ten: -9), .init("[in_i'Hg]", 3_386_388, ten: -3),
                .init("[psi]", 6_894_757_293_168, ten: -9),
            ]
        ),
        (
            .length,
            [
                .init("m"), .init("um", ten: -6), .init("mm", ten: -3), .init("cm", ten: -2),
                .init("km", ten: 3), .init("[in_i]", 254, ten: -4), .init("[ft_i]", 3_048, ten: -4),
                .init("[mi_i]", 1_609_344, ten: -3),
            ]
        ),
        (
            .speed,
            [
                .init("m/s"), .init("km/h", 5, per: 18), .init("[mi_i]/h", 44_704, ten: -5),
                .init("[kn_i]", 463, per: 900),
            ]
        ),
        (.mass, [.init("kg"), .init("g", ten: -3), .init("mg", ten: -6), .init("t", ten: 3)]),
        (
            .time,
            [
                .init("s"), .init("us", ten: -6), .init("ms", ten: -3), .init("min", 60),
                .init("h", 3_600), .init("d", 86_400),
            ]
        ),
        (.current, [.init("A"), .init("mA", ten: -3), .init("uA", ten: -6)]),
        (.voltage, [.init("V"), .init("mV", ten: -3), .init("uV", ten: -6), .init("kV", ten: 3)]),
        (.power, [.init("W"), .init("mW", ten: -3), .init("uW", ten: -6), .init("kW", ten: 3)]),
        (.apparentPower, [.init("VA"), .init("kVA", ten: 3)]),
        (.reactivePower, [.init("var"), .init("kvar", ten: 3)]),
        (
            .energy,
            [
                .init("J"), .init("kJ", ten: 3), .init("MJ", ten: 6), .init("Wh", 3_600),
                .init("kWh", 36, ten: 5), .init("uJ", ten: -6),
            ]
        ),
        (.apparentEnergy, [.init("VAs"), .init("kVAh", 36, ten: 5)]),
        (
            .reactiveEnergy,
            [.init("vars"), .init("varh", 3_600), .init("kvarh", 36, ten: 5)]
        ),
        (.charge, [.init("C"), .init("Ah", 3_600), .init("mAh", 36, ten: -1)]),
        (
            .frequency,
            [.init("Hz"), .init("kHz", ten: 3), .init("MHz", ten: 6), .init("GHz", ten: 9)]
        ),
        (.rate, [.init("1/s"), .init("1/min", 1, per: 60), .init("1/h", 1, per: 3_600)]),
        (
            .volume,
            [
                .init("m3"), .init("l", ten: -3), .init("ml", ten: -6),
                .init("[gal_us]", 3_785_411_784, ten: -12),
            ]
        ),
        (
            .flow,
            [
                .init("m3/s"), .init("l/s", ten: -3), .init("l/min", 1, per: 60, ten: -3),
                .init("l/h", 1, per: 3_600, ten: -3), .init("m3/h", 1, per: 3_600),
            ]
        ),
        (.rainfall, [.init("m/h"), .init("mm/h", ten: -3), .init("[in_i]/h", 254, ten: -4)]),
        (
            .share,
            [
                .init("/"), .init("%", ten: -2), .init("/100", ten: -2), .init("/1000", ten: -3),
                .init("ppm", ten: -6), .init("ppb", ten: -9),
            ]
        ),
        (
            .data,
            [
                .init("B"), .init("bit", 1, per: 8), .init("KiB", 1_024), .init("MiB", 1_048_576),
                .init("GiB", 1_073_741_824), .init("kB", ten: 3), .init("MB", ten: 6),
                .init("GB", ten: 9),
            ]
        ),
        (
            .dataRate,
            [
                .init("B/s"), .init("bit/s", 1, per: 8), .init("Mbit/s", 125_000),
                .init("MB/s", ten: 6),
            ]
        ),
        (
            .density,
            [
                .init("kg/m3"), .init("g/m3", ten: -3), .init("mg/m3", ten: -6),
                .init("ug/m3", ten: -9),
            ]
        ),
        (.level, [.init("dBW"), .init("dBm", shift: DecimalValue(coefficient: -30))]),
    ]
}
