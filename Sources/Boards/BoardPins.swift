import Synchronization

/// The pins of the board that this runs on, for drivers that are told a pin by name.
///
/// Nothing is read before the first question, then one file, once. A machine without a board file
/// has no pins; that is no error.
public final class BoardPins: Sendable {
    private let library: BoardLibrary
    private let root: String
    private let board = Mutex<Found>(.notAsked)

    private enum Found {
        case notAsked
        case asked(Board?)
    }

    /// `root` is where /proc and /sys are; tests give another.
    public init(library: BoardLibrary = BoardLibrary(), root: String = "") {
        self.library = library
        self.root = root
    }

    /// The chip and the line that a name stands for (`GPIO17`, `11`, `P9_12`); nil if there is no
    /// such pin, or no board file. The chip is called as in /dev where its device is there, which
    /// is right also where labels depend on the order in which chips were found; otherwise it is
    /// the label.
    public func place(of name: String) -> (chip: String, line: UInt32)? {
        guard let line = found?.line(named: name) else { return nil }
        let chips = SystemTree(root: root).gpioChips.filter { $0.device == line.chipDevice }
        let chip = chips.count == 1 ? chips[0].name : line.chipLabel
        return (chip, UInt32(line.line))
    }

    /// Names of the pins that are lines, in the order of the headers.
    public var names: [String] { found?.lineNames ?? [] }

    private var found: Board? {
        board.withLock { board in
            if case .asked(let known) = board { return known }
            let answer = library.board(of: MachineIdentity(root: root)).board
            board = .asked(answer)
            return answer
        }
    }
}
