/// A header as text, as it lies on the board: two columns, odd pins on the left.
struct HeaderPicture {
    let header: Header
    let ink: Ink

    /// Columns that the functions of a pin may take.
    private static let functionsMax = 36

    var lines: [String] {
        let numbers = header.pins.map(\.number)
        guard let first = numbers.min(), let last = numbers.max() else { return [] }
        if header.columns == 1 { return header.pins.map { "  " + right(of: $0) } }
        let start = first % 2 == 1 ? first : first - 1
        let width = header.pins.filter { $0.number % 2 == 1 }.map { left(of: $0).count }.max() ?? 0
        return stride(from: start, through: last, by: 2).map { number in
            let (odd, even) = (pin(number), pin(number + 1))
            let text = odd.map(left) ?? ""
            let padding = String(repeating: " ", count: max(0, width - text.count))
            let leftSide = odd.map { ink.paint(text, $0.kind) } ?? ""
            return "  " + padding + leftSide + " │ " + (even.map(right) ?? "")
        }
    }

    private func pin(_ number: Int) -> Pin? { header.pins.first { $0.number == number } }

    /// `SDA1  GPIO2   3`
    private func left(of pin: Pin) -> String {
        [functions(pin), pin.name, number(pin)].filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// ` 4  5V`, painted.
    private func right(of pin: Pin) -> String {
        let text = [number(pin), pin.name, functions(pin)].filter { !$0.isEmpty }
        return ink.paint(text.joined(separator: "  "), pin.kind)
    }

    private func number(_ pin: Pin) -> String {
        let text = String(pin.number)
        return String(repeating: " ", count: max(0, 2 - text.count)) + text
    }

    private func functions(_ pin: Pin) -> String {
        let all = pin.functions.joined(separator: " ")
        return all.count > Self.functionsMax ? all.prefix(Self.functionsMax - 1) + "…" : all
    }
}

/// Colours of a terminal (ECMA-48 §8.3.117), or none.
struct Ink {
    let isOn: Bool

    func paint(_ text: String, _ kind: Pin.Kind) -> String {
        let code =
            switch kind {
            case .gpio: 32
            case .power: 31
            case .ground: 90
            case .analog: 36
            case .special: 33
            }
        return isOn ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }

    func strong(_ text: String) -> String { isOn ? "\u{1b}[1m\(text)\u{1b}[0m" : text }
}
