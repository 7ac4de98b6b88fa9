import CGPIOD
import Glibc
import NearbyCore

extension Limits {
    /// Chips and lines that are looked at.
    static let gpioChipsMax = 64
    static let gpioLinesMax = 1_024
}

/// A GPIO chip with its lines, as the kernel describes them.
struct GPIOChip: Equatable, Sendable {
    struct Line: Equatable, Sendable {
        /// Empty: none.
        var name: String
        /// Who holds it, if anybody does; empty if that is not told.
        var holder: String?
    }

    /// Its device, such as /dev/gpiochip0.
    var path: String
    /// gpiochip0
    var name: String
    /// What its driver calls it, such as pinctrl-bcm2711; not always the only one of that label.
    var label: String
    /// In the order of their numbers.
    var lines: [Line]
}

/// The chips that were found, and those that could not be looked at.
struct GPIOChips: Equatable, Sendable {
    var chips: [GPIOChip] = []
    /// errno, by device.
    var faults: [(path: String, code: Int32)] = []

    init(chips: [GPIOChip] = [], faults: [(path: String, code: Int32)] = []) {
        self.chips = chips
        self.faults = faults
    }

    /// Looks at all devices in the folder that are called gpiochip and a number. Links to them are
    /// left out: they are the same chips once more.
    init(in folder: String) {
        for number in Self.numbers(in: folder) {
            let path = "\(folder)/gpiochip\(number)"
            switch GPIOChip.read(path) {
            case .success(let chip): chips.append(chip)
            case .failure(let fault): faults.append((path, fault.code))
            }
        }
    }

    private static func numbers(in folder: String) -> [Int] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var numbers: [Int] = []
        while let entry = readdir(stream), numbers.count < Limits.gpioChipsMax {
            guard entry.pointee.d_type != UInt8(DT_LNK) else { continue }
            let name = text(of: entry.pointee.d_name)
            guard name.hasPrefix("gpiochip"), let number = Int(name.dropFirst(8)), number >= 0
            else { continue }
            numbers.append(number)
        }
        return numbers.sorted()
    }

    static func == (left: GPIOChips, right: GPIOChips) -> Bool {
        left.chips == right.chips && left.faults.elementsEqual(right.faults, by: ==)
    }
}

extension GPIOChip {
    struct Fault: Error { let code: Int32 }

    static func read(_ path: String) -> Result<GPIOChip, Fault> {
        guard let chip = gpiod_chip_open(path) else { return .failure(Fault(code: errno)) }
        defer { gpiod_chip_close(chip) }
        var about = cgpiod_chip_about()
        guard cgpiod_chip_describe(chip, &about) == 0 else {
            return .failure(Fault(code: errno))
        }
        let count = min(Int(about.line_count), Limits.gpioLinesMax)
        let lines = (0..<count).map { number in
            var about = cgpiod_line_about()
            guard cgpiod_line_describe(chip, UInt32(number), &about) == 0 else {
                return Line(name: "", holder: nil)
            }
            return Line(
                name: text(of: about.name), holder: about.is_used ? text(of: about.consumer) : nil)
        }
        return .success(
            GPIOChip(
                path: path, name: text(of: about.name), label: text(of: about.label), lines: lines))
    }
}

/// The text in a C array of characters, up to its zero.
private func text<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
