import Configuration

/// What a board file says of one kind of board: how it is recognised, its headers, its buses, and
/// what to know before something is wired to it.
public struct Board: Sendable {
    /// For people, 1–63 bytes.
    public var name: String
    /// Strings of the device tree's root, the first also names the file; empty for the board that
    /// stands in where there is no device tree.
    public var compatible: [String]
    /// Processor, cores and memory in words; empty if not told.
    public var processor: String
    /// Which of our programs run on it.
    public var binary: Binary
    public var chips: [BoardChip]
    /// In the order of the file; at most 4.
    var headers: [Header]
    public var buses: [Bus]
    /// Types of its thermal zones, as /sys/class/thermal names them.
    var thermalZones: [String]
    /// Names in /sys/class/leds; the status LED first.
    public var leds: [String]
    /// Files in which overlays are asked for; the first that exists counts.
    var bootFiles: [String]
    public var overlays: [Overlay]
    public var traps: [String]
    /// Where the facts come from.
    public var sources: [String]

    /// Debian's names of the architectures that there are programs for.
    public enum Binary: String, CaseIterable, Sendable {
        case arm64, amd64
        /// A 32-bit processor: there is no program for it yet.
        case none
    }
}

/// A GPIO chip that pins of a header belong to.
public struct BoardChip: Equatable, Sendable {
    /// As pins name it.
    public var name: String
    /// As the kernel labels it: what `gpiodetect` shows in brackets.
    public var label: String
    /// The platform device that it belongs to (`fe200000.gpio`), which tells chips apart where
    /// their labels depend on the order in which they were found; nil if not told.
    public var device: String?
    /// How many lines it has, 1–1,024.
    public var lineCount: Int
    public var mark: Mark
}

/// A row, or two, of pins.
struct Header: Sendable {
    /// As printed on the board or in its schematic: J8, P9.
    var name: String
    /// 1 or 2; with 2, odd pins are on the left.
    var columns: Int
    /// In the order of their numbers, which need not be without gaps.
    var pins: [Pin]
    var mark: Mark
}

public struct Pin: Sendable {
    /// Physical, from 1.
    public var number: Int
    /// GPIO17, PC7, GPIO4_C2; or 3V3, 5V, GND.
    public var name: String
    public var kind: Kind
    /// What else it can be, such as SDA1; for people.
    public var functions: [String]
    /// The chip's name and the line's offset in it; of GPIO pins only.
    public var line: (chip: String, offset: Int)?
    public var mark: Mark

    public enum Kind: String, CaseIterable, Sendable { case gpio, power, ground, analog, special }
}

/// A bus that the board brings out.
public struct Bus: Sendable {
    public var kind: Kind
    public var name: String
    /// A path in /dev or /sys that is there when the bus is on.
    public var device: String
    /// Names of its pins.
    public var pins: [String]
    /// Lines for the boot file that turn it on; none if it always is.
    public var enable: [String]
    public var note: String
    public var mark: Mark

    public enum Kind: String, CaseIterable, Sendable { case i2c, spi, uart, w1, pwm, adc, can }
}

/// Lines for the boot file, and what for.
public struct Overlay: Sendable {
    public var purpose: String
    public var lines: [String]
    public var note: String
}
