/// What `rivulet board` prints of a board.
public struct BoardReport {
    private let board: Board
    private let file: String
    /// Nil where another board than this one is shown: then nothing is looked up.
    private let tree: SystemTree?
    private let ink: Ink
    private let boot: BootFile?

    /// `root` is where /dev and /sys of this machine are; nil if it is not this board.
    public init(_ board: Board, file: String, root: String?, colours: Bool = false) {
        self.board = board
        self.file = file
        tree = root.map(SystemTree.init)
        ink = Ink(isOn: colours)
        boot = tree.flatMap { BootFile(firstOf: board.bootFiles, $0) }
    }

    public var text: String {
        (title + pictures + buses + overlays + places + traps + sources).joined(separator: "\n")
            + "\n"
    }

    private var title: [String] {
        let program =
            switch board.binary {
            case .none: "no binary yet: a 32-bit processor"
            case .arm64, .amd64: "binary: \(board.binary.rawValue)"
            }
        let known = board.compatible.first.map { " (\($0))" } ?? ""
        return [ink.strong(board.name) + known]
            + (board.processor.isEmpty ? [] : [board.processor])
            + [program, "from \(file)"]
    }

    private var pictures: [String] {
        board.headers.flatMap { header in
            ["", ink.strong(header.name)] + HeaderPicture(header: header, ink: ink).lines
        }
    }

    // MARK: What is there and what is not

    private var buses: [String] {
        guard !board.buses.isEmpty else { return [] }
        let width = board.buses.map(\.name.count).max() ?? 0
        return ["", ink.strong("Buses")]
            + board.buses.flatMap { bus -> [String] in
                let name = bus.name + String(repeating: " ", count: width - bus.name.count)
                let pins = bus.pins.isEmpty ? "" : "  on " + bus.pins.joined(separator: " ")
                let line = "  \(name)  \(bus.device)\(state(of: bus.device))\(pins)"
                let isThere = tree?.exists(bus.device) == true
                let notes = wrapped(bus.note, "      ")
                return [line] + notes + (isThere ? [] : bus.enable.map(paste))
            }
    }

    private func state(of path: String) -> String {
        guard let tree else { return "" }
        return tree.exists(path) ? "  is there" : "  is missing"
    }

    /// A line for the boot file; whether it is there already, which before a reboot says nothing.
    private func paste(_ line: String) -> String {
        let isThere = boot?.contains(line) == true
        let mark = isThere ? "    (is in the file; reboot)" : ""
        return "      " + line + (isPossible([line]) ? mark : "    (not on this system)")
    }

    private func isPossible(_ lines: [String]) -> Bool {
        boot.map { lines.allSatisfy($0.isPossible) } ?? true
    }

    private var overlays: [String] {
        guard !board.overlays.isEmpty else { return [] }
        let file = boot?.path ?? board.bootFiles.first
        let place = file.map { ", lines for \($0), then a reboot" } ?? ""
        return ["", ink.strong("For sensors") + place]
            + board.overlays.flatMap { overlay -> [String] in
                let isThere = boot.map { overlay.lines.allSatisfy($0.contains) }
                let mark =
                    isPossible(overlay.lines)
                    ? isThere == true ? "  (is in the file)" : "" : "  (not on this system)"
                return ["  \(overlay.purpose)\(mark)"] + overlay.lines.map { "      " + $0 }
                    + wrapped(overlay.note, "      # ")
            }
    }

    private var places: [String] {
        let zones = tree.map { tree in
            tree.names(in: "/sys/class/thermal").filter { $0.hasPrefix("thermal_zone") }
                .compactMap { tree.line("/sys/class/thermal/\($0)/type") }
        }
        let thermal = board.thermalZones.map { zone in
            zone + (zones.map { $0.contains(zone) ? "" : " (missing)" } ?? "")
        }
        let leds = board.leds.map { led in
            let isMissing = tree.map { !$0.exists("/sys/class/leds/\(led)") } ?? false
            return led + (isMissing ? " (missing)" : "")
        }
        let chips = board.chips.map { chip in
            "\(chip.name) [\(chip.label)]" + (chip.device.map { " \($0)" } ?? "")
                + state(of: chip)
        }
        return list("GPIO chips", chips) + list("Thermal zones", thermal) + list("LEDs", leds)
    }

    private func state(of chip: BoardChip) -> String {
        guard let tree else { return "" }
        let found = tree.gpioChips.first { found in
            found.label == chip.label || (chip.device != nil && found.device == chip.device)
        }
        return found.map { " is \($0.name)" } ?? " is missing"
    }

    private var traps: [String] {
        let lines = board.buses.flatMap(\.enable) + board.overlays.flatMap(\.lines)
        let missing =
            isPossible(lines)
            ? []
            : [
                "What is marked `not on this system` wants the kernel and the overlays of "
                    + "Raspberry Pi OS. Other systems want an overlay of one's own, as Rivulet's "
                    + "image has for 1-Wire and SPI."
            ]
        return list("Mind", (missing + board.traps).map { "- " + $0 })
    }

    private var sources: [String] { list("Sources", board.sources.map { "- " + $0 }) }

    private func list(_ title: String, _ entries: [String]) -> [String] {
        entries.isEmpty ? [] : ["", ink.strong(title)] + entries.flatMap { wrapped($0, "  ") }
    }

    private static let columns = 100

    /// Lines of at most 100 columns where words allow; the second and later ones begin under the
    /// text of a mark (`# `, `- `).
    private func wrapped(_ text: String, _ indent: String) -> [String] {
        var lines: [String] = []
        var line = indent
        let hanging = indent + (text.hasPrefix("- ") ? "  " : "")
        for word in text.split(separator: " ") {
            let isFirst = line == indent || line == hanging
            if !isFirst, line.count + 1 + word.count > Self.columns {
                lines.append(line)
                line = hanging
            }
            line += (line == indent || line == hanging ? "" : " ") + word
        }
        return text.isEmpty ? [] : lines + [line]
    }
}
