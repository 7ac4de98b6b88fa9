import Configuration

/// What `rivulet board` prints where no board file fits: what the machine tells of itself, what
/// works all the same, and how a file is made.
public struct UnknownBoardReport {
    private let machine: MachineIdentity
    private let library: BoardLibrary
    private let tree: SystemTree

    public init(_ machine: MachineIdentity, _ library: BoardLibrary, root: String = "") {
        self.machine = machine
        self.library = library
        tree = SystemTree(root: root)
    }

    public var text: String {
        (identity + chips + advice).joined(separator: "\n") + "\n"
    }

    private var identity: [String] {
        let names = library.names
        let known = names.isEmpty ? "no board file there" : "\(names.count) boards known"
        return ["There is no board file for this machine."]
            + ["  model: " + (machine.model.isEmpty ? "unknown" : machine.model)]
            + (machine.hasDeviceTree
                ? machine.compatible.map { "  compatible: \($0)" } : ["  no device tree"])
            + library.folders.map { "  looked in \($0)" } + ["  \(known)"]
    }

    private var chips: [String] {
        let chips = tree.gpioChips.map { "  " + $0.text }
        return ["", "GPIO chips"] + (chips.isEmpty ? ["  none"] : chips)
    }

    private var advice: [String] {
        let name = machine.compatible.first ?? BoardLibrary.generic
        let folder = library.folders.last { !$0.hasSuffix("/usr/share/rivulet/boards") }
        return [
            "",
            "Everything works without one, but for pins by their number on the header: name GPIO",
            "lines as the kernel does, or by chip and offset (`gpioinfo` shows both).",
            "`rivulet sensors` shows what is attached, whatever the board.",
            "To add this one: copy the nearest file of `rivulet board --all` to",
            "\(folder ?? "/usr/local/share/rivulet/boards")/\(name).yaml, change `compatible`,",
            "chips and pins, and run `rivulet board` again: it names every mistake in it.",
        ]
    }
}
