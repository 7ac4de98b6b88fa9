import Configuration

extension Board {
    /// What a single key cannot tell: nothing is named or numbered twice, and what is referred to
    /// is there.
    func check(_ mistakes: MistakeList) {
        refuseRepeats(chips.map { ($0.name, $0.mark) }, "the chip", mistakes)
        refuseRepeats(headers.map { ($0.name, $0.mark) }, "the header", mistakes)
        refuseRepeats(buses.map { ($0.name, $0.mark) }, "the bus", mistakes)
        for header in headers {
            let numbers = header.pins.map { (String($0.number), $0.mark) }
            refuseRepeats(numbers, "\(header.name)'s pin", mistakes)
        }
        let pins = headers.flatMap(\.pins)
        let named = pins.filter { $0.kind == .gpio || $0.kind == .analog }
        refuseRepeats(named.map { ($0.name.lowercased(), $0.mark) }, "the pin", mistakes)
        refuseRepeats(
            pins.compactMap { pin in pin.line.map { ("\($0.offset) of \($0.chip)", pin.mark) } },
            "the line", mistakes)
        for pin in pins { checkLine(of: pin, mistakes) }
        for bus in buses { checkPins(of: bus, mistakes) }
    }

    private func checkLine(of pin: Pin, _ mistakes: MistakeList) {
        guard let line = pin.line else { return }
        guard let chip = chips.first(where: { $0.name == line.chip }) else {
            let known = chips.map(\.name)
            return mistakes.add(
                pin.mark,
                "\(pin.name) is on the chip \(line.chip), which is not among the chips; "
                    + Suggestion.text(for: line.chip, among: known))
        }
        if line.offset >= chip.lineCount {
            mistakes.add(
                pin.mark,
                "\(pin.name) is line \(line.offset) of \(chip.name), which has "
                    + "\(chip.lineCount) lines, from 0")
        }
    }

    private func checkPins(of bus: Bus, _ mistakes: MistakeList) {
        let names = headers.flatMap(\.pins).filter { $0.kind == .gpio || $0.kind == .analog }
            .map(\.name)
        for pin in bus.pins where !names.contains(pin) {
            mistakes.add(
                bus.mark,
                "\(bus.name) has the pin \(PlainText.shown(pin)), which is in no header; "
                    + Suggestion.text(for: pin, among: names))
        }
    }

    private func refuseRepeats(
        _ names: [(text: String, mark: Mark)], _ what: String, _ mistakes: MistakeList
    ) {
        var lines: [String: Int] = [:]
        for (name, mark) in names {
            if let earlier = lines[name] {
                mistakes.add(
                    mark, "\(what) \(name) comes twice, first in line \(earlier); leave one out")
            } else {
                lines[name] = mark.line
            }
        }
    }
}
