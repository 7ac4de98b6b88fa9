import Configuration

extension Board {
    /// What came of reading a file: a board where nothing is wrong, otherwise every mistake in the
    /// file's order.
    public enum Outcome: Sendable {
        case good(Board)
        case bad([Mistake])
    }

    /// Decodes the text of a board file. `file` is its name in messages.
    public static func decode(_ text: [UInt8], file: String) -> Outcome {
        let mistakes = MistakeList(file: file)
        let root: YAMLNode
        do throws(Mistake) {
            root = try YAMLNode.parse(text, file: file)
        } catch {
            return .bad([error])
        }
        let section = Section(root, Self.file, mistakes)
        let board = Board(section)
        board.check(mistakes)
        return mistakes.mistakes.isEmpty ? .good(board) : .bad(mistakes.inOrder)
    }

    /// Every table of keys of a board file.
    public static let tables = [
        file, BoardChip.table, Header.table, Pin.table, Bus.table, Overlay.table,
    ]

    static let file = KeyTable(
        "the board",
        [
            Key("name", .text(1...63), .required, "What people call the board."),
            Key(
                "compatible",
                .list(element: "a string of the device tree such as vendor,board", most: 16),
                .described("none: the board of machines without a device tree"),
                "How it is recognised; the first is also the file's name."),
            Key("processor", .text(1...200), .described("unknown"), "Cores and memory."),
            Key(
                "binary", .choice(Binary.allCases.map(\.rawValue)), .required,
                "The architecture of our programs for it; none: there is no program yet."),
            Key("chips", .sections(most: 16), .described("none"), "GPIO chips of the headers."),
            Key("headers", .sections(most: 4), .described("none"), "Rows of pins."),
            Key("buses", .sections(most: 64), .described("none"), "What is on the pins."),
            Key(
                "thermal", .list(element: "the type of a thermal zone", most: 16),
                .described("none"), "As in /sys/class/thermal."),
            Key(
                "leds", .list(element: "the name of an LED", most: 16), .described("none"),
                "As in /sys/class/leds; the status LED first."),
            Key(
                "boot-files", .list(element: "a full path", most: 4), .described("none"),
                "Where overlays are asked for; the first that exists."),
            Key(
                "overlays", .sections(most: 64), .described("none"),
                "Lines to paste there, and what for."),
            Key(
                "traps", .list(element: "a sentence", most: 32), .described("none"),
                "What to know before wiring."),
            Key(
                "sources", .list(element: "a file or page, and what is from there", most: 32),
                .required, "Where the facts come from."),
        ])

    private init(_ section: Section) {
        name = section.text("name") ?? ""
        compatible = section.list("compatible", where: BoardText.isFileName).map(\.text)
        processor = section.text("processor") ?? ""
        binary = section.choice("binary") ?? .none
        chips = section.sections("chips", BoardChip.table).map(BoardChip.init)
        headers = section.sections("headers", Header.table).map(Header.init)
        buses = section.sections("buses", Bus.table).map(Bus.init)
        thermalZones = section.list("thermal").map(\.text)
        leds = section.list("leds").map(\.text)
        bootFiles = section.list("boot-files") { $0.hasPrefix("/") }.map(\.text)
        overlays = section.sections("overlays", Overlay.table).map(Overlay.init)
        traps = section.list("traps").map(\.text)
        sources = section.list("sources").map(\.text)
        if sources.isEmpty, section.node("sources") != nil {
            section.add("sources", "sources has no entry; name where the facts come from")
        }
    }
}

extension BoardChip {
    static let table = KeyTable(
        "a chip",
        [
            Key("name", .text(1...31), .required, "As headers and pins name it."),
            Key("label", .text(1...31), .required, "The kernel's label, as gpiodetect shows it."),
            Key(
                "device", .text(1...63), .described("unknown"),
                "The platform device, such as fe200000.gpio."),
            Key("lines", .integer(1...1_024), .value("32"), "How many lines it has."),
        ])

    fileprivate init(_ section: Section) {
        name = section.text("name") ?? ""
        label = section.text("label") ?? ""
        device = section.text("device")
        lineCount = section.integer("lines")
        mark = section.mark
    }
}

extension Header {
    static let table = KeyTable(
        "a header",
        [
            Key("name", .text(1...15), .required, "As printed on the board: J8, P9."),
            Key("columns", .integer(1...2), .value("2"), "With 2, odd pins are on the left."),
            Key("chip", .text(1...31), .described("none"), "The chip of pins that name none."),
            Key("pins", .sections(most: 128), .required, "Every pin."),
        ])

    fileprivate init(_ section: Section) {
        name = section.text("name") ?? ""
        columns = section.integer("columns")
        let chip = section.text("chip")
        pins = section.sections("pins", Pin.table).map { Pin($0, chip: chip) }
        mark = section.mark
    }
}

extension Pin {
    static let table = KeyTable(
        "a pin",
        [
            Key("pin", .integer(1...200), .required, "Its number."),
            Key("name", .text(1...31), .required, "GPIO17, PC7; or 3V3, 5V, GND."),
            Key(
                "kind", .choice(Kind.allCases.map(\.rawValue)), .value("gpio"),
                "Special is what is no GPIO: reset, USB, not connected."),
            Key(
                "chip", .text(1...31), .described("the header's"), "The GPIO chip."),
            Key("line", .integer(0...1_023), .described("none"), "The line's offset in the chip."),
            Key(
                "also", .list(element: "a function such as SDA1", most: 16), .described("none"),
                "What else the pin can be."),
        ])

    fileprivate init(_ section: Section, chip: String?) {
        number = section.integerIfGiven("pin") ?? 0
        mark = section.mark
        name = section.text("name") ?? ""
        kind = section.choice("kind") ?? .gpio
        functions = section.list("also").map(\.text)
        let offset = section.integerIfGiven("line")
        switch (kind, offset, section.text("chip") ?? chip) {
        case (.gpio, nil, _): section.add("name", "\(name) is a GPIO; it needs the key line")
        case (.gpio, _, nil):
            section.add("name", "\(name) is a GPIO; it or its header needs the key chip")
        case (.gpio, let offset?, let chip?): line = (chip, offset)
        case (_, nil, _): break
        case (_, _?, _):
            section.add("line", "\(name) is no GPIO (kind: \(kind)) and has no line; leave it out")
        }
    }
}

extension Bus {
    static let table = KeyTable(
        "a bus",
        [
            Key("kind", .choice(Kind.allCases.map(\.rawValue)), .required, "Which kind of bus."),
            Key("name", .text(1...31), .required, "I2C1, SPI0, UART0."),
            Key("device", .path, .required, "A path in /dev or /sys that is there when it is on."),
            Key(
                "pins", .list(element: "a pin's name", most: 16), .described("none"),
                "Names of its pins."),
            Key(
                "enable", .list(element: "a line for the boot file", most: 8),
                .described("none: it is always on"), "Lines that turn it on."),
            Key("note", .text(1...400), .described("none"), "What to know."),
        ])

    fileprivate init(_ section: Section) {
        kind = section.choice("kind") ?? .i2c
        mark = section.mark
        name = section.text("name") ?? ""
        device = section.text("device") ?? ""
        pins = section.list("pins").map(\.text)
        enable = section.list("enable").map(\.text)
        note = section.text("note") ?? ""
        if !device.isEmpty, !device.hasPrefix("/dev/"), !device.hasPrefix("/sys/") {
            section.add("device", "device is '\(device)'; it must be a path in /dev or /sys")
        }
    }
}

extension Overlay {
    static let table = KeyTable(
        "an overlay",
        [
            Key("for", .text(1...100), .required, "What it is for."),
            Key(
                "lines", .list(element: "a line for the boot file", most: 8), .required,
                "Lines to paste."),
            Key("note", .text(1...400), .described("none"), "What to know."),
        ])

    fileprivate init(_ section: Section) {
        purpose = section.text("for") ?? ""
        lines = section.list("lines").map(\.text)
        note = section.text("note") ?? ""
    }
}
