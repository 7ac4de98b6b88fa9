import NearbyCore
import Telemetry

/// The fields of an NMEA sentence, from 0, the address; what is not there is empty.
struct SentenceFields {
    private let fields: [String]

    init(_ fields: [String]) { self.fields = fields }

    func text(_ index: Int) -> String { fields.indices.contains(index) ? fields[index] : "" }

    func isEmpty(_ index: Int) -> Bool { text(index).isEmpty }

    func number(_ index: Int) -> DecimalValue? { try? DecimalValue(parsing: text(index)) }

    /// `4807.038,N`: 48° 7.038'. Degrees north, −90 to 90.
    func latitude(_ index: Int) -> DecimalValue? {
        degrees(index, most: 90, positive: "N", negative: "S")
    }

    /// `01131.000,E`. Degrees east, −180 to 180.
    func longitude(_ index: Int) -> DecimalValue? {
        degrees(index, most: 180, positive: "E", negative: "W")
    }

    /// A number that is not negative.
    func magnitude(_ index: Int) -> DecimalValue? {
        number(index).flatMap { $0.coefficient >= 0 ? $0 : nil }
    }

    /// A sixtieth of the minutes, rounded half up, to two digits more than they had: the rounding
    /// is less than a fortieth of what the last digit of the minutes says.
    private func degrees(
        _ index: Int, most: Int64, positive: String, negative: String
    ) -> DecimalValue? {
        let sign = text(index + 1)
        guard sign == positive || sign == negative,
            let minutes = number(index), minutes.coefficient >= 0,
            (-8...0).contains(minutes.exponent),
            // As an integer the number is degrees × 100 + minutes.
            let whole = wholePart(minutes), whole < 100_000
        else { return nil }
        let scale = powerOfTen(-Int(minutes.exponent))
        let degrees = whole / 100
        let rest = minutes.coefficient - degrees * 100 * scale
        guard rest < 60 * scale else { return nil }
        let result = degrees * 100 * scale + (rest * 10 + 3) / 6
        guard result <= most * 100 * scale else { return nil }
        return DecimalValue(
            coefficient: sign == negative ? -result : result, exponent: minutes.exponent - 2)
    }

    private func wholePart(_ value: DecimalValue) -> Int64? {
        value.coefficient / powerOfTen(-Int(value.exponent))
    }

    /// 10 to the power of 0 to 18.
    private func powerOfTen(_ power: Int) -> Int64 {
        (0..<power).reduce(Int64(1)) { result, _ in result * 10 }
    }
}
