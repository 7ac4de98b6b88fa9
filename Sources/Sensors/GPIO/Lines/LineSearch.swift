import Glibc
import NearbyCore
import Telemetry

extension Limits {
    /// Names that a message lists.
    static let gpioNamesReported = 40
}

/// Finds a line by what a person calls it, and says what there is where it is not found.
struct LineSearch {
    let chips: GPIOChips
    let header: HeaderPins

    func find(_ name: LineName) -> Result<FoundLine, LineFault> {
        guard !chips.chips.isEmpty else { return .failure(noChip) }
        switch name {
        case .line(let number, let text):
            return chip(called: text).flatMap { line(number, of: $0) }
        case .pin(let pin, let text):
            guard let text else { return find(pin, on: chips.chips) }
            return chip(called: text).flatMap { find(pin, on: [$0]) }
        }
    }

    /// A number is a place on the header; a name is the kernel's, or else the board's.
    private func find(_ pin: String, on chips: [GPIOChip]) -> Result<FoundLine, LineFault> {
        let isNumber = pin.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let named = isNumber ? [] : lines(called: pin, on: chips)
        if let only = named.first, named.count == 1 { return .success(only) }
        if named.count > 1 {
            let places = named.prefix(4).map { "\($0.chip) line \($0.line)" }
            return .failure(
                LineFault(
                    reason: .malformed,
                    text: "more than one line is called \(pin): "
                        + places.joined(separator: ", ") + "; write chip: beside pin:"))
        }
        if let place = header(pin) {
            return chip(called: place.chip).flatMap { line(place.line, of: $0) }
        }
        if isNumber {
            return .failure(
                LineFault(
                    reason: .absent,
                    text: "no GPIO is known on pin \(pin) of this board's header; write the "
                        + "line's name, or chip: and line:; " + names(on: chips)))
        }
        return .failure(
            LineFault(reason: .absent, text: "no line is called \(pin); " + names(on: chips)))
    }

    private func lines(called name: String, on chips: [GPIOChip]) -> [FoundLine] {
        chips.flatMap { chip in
            chip.lines.indices.filter { chip.lines[$0].name == name }.map { found($0, chip) }
        }
    }

    private func line(_ number: UInt32, of chip: GPIOChip) -> Result<FoundLine, LineFault> {
        guard number < chip.lines.count else {
            return .failure(
                LineFault(
                    reason: .absent,
                    text: chip.lines.isEmpty
                        ? "\(chip.name) has no lines"
                        : "\(chip.name) (\(chip.label)) has no line \(number), only 0 to "
                            + "\(chip.lines.count - 1)"))
        }
        return .success(found(Int(number), chip))
    }

    private func found(_ index: Int, _ chip: GPIOChip) -> FoundLine {
        FoundLine(
            path: chip.path, chip: chip.name, line: UInt32(index), name: chip.lines[index].name,
            holder: chip.lines[index].holder)
    }

    /// By name, label, number or device.
    private func chip(called text: String) -> Result<GPIOChip, LineFault> {
        let named = chips.chips.filter {
            $0.name == text || $0.path == text || $0.name == "gpiochip\(text)"
        }
        let all = named.isEmpty ? chips.chips.filter { $0.label == text } : named
        if let only = all.first, all.count == 1 { return .success(only) }
        if let fault = chips.faults.first(where: {
            $0.path == text || $0.path.hasSuffix("/\(text)") || $0.path.hasSuffix("gpiochip\(text)")
        }) {
            return .failure(Self.fault(fault.path, fault.code))
        }
        let there = chips.chips.prefix(Limits.gpioNamesReported)
            .map { "\($0.name) (\($0.label), \($0.lines.count) lines)" }.joined(separator: ", ")
        return .failure(
            LineFault(
                reason: all.isEmpty ? .absent : .malformed,
                text: all.isEmpty
                    ? "there is no GPIO chip \(text); there are: \(there)"
                    : "more than one chip has the label \(text); write its name: "
                        + all.map(\.name).joined(separator: ", ")))
    }

    /// `there are: GPIO2, GPIO3, … and 20 more`
    private func names(on chips: [GPIOChip]) -> String {
        let names = chips.flatMap { $0.lines.map(\.name) }.filter { !$0.isEmpty }
        if names.isEmpty {
            let chips = chips.prefix(Limits.gpioNamesReported)
                .map { "\($0.name) (\($0.label), \($0.lines.count) lines)" }
            return "the kernel names no lines here, only the chips "
                + chips.joined(separator: ", ")
        }
        let rest = names.count - Limits.gpioNamesReported
        return "there are: " + names.prefix(Limits.gpioNamesReported).joined(separator: ", ")
            + (rest > 0 ? " and \(rest) more" : "")
    }

    private var noChip: LineFault {
        if let fault = chips.faults.first { return Self.fault(fault.path, fault.code) }
        return LineFault(
            reason: .absent,
            text: "there is no GPIO chip here (no /dev/gpiochip0); is its driver loaded?")
    }

    private static func fault(_ path: String, _ code: Int32) -> LineFault {
        if code == EACCES || code == EPERM {
            return LineFault(
                reason: .denied,
                text: SensorFile.denial(path, code, group: "gpio"))
        }
        return LineFault(
            reason: code == ENOENT || code == ENODEV || code == ENXIO ? .absent : .failed,
            text: "\(path): \(SensorFile.message(code))")
    }
}

extension SensorFile {
    /// strerror(3)
    static func message(_ code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
