import Boards
import Configuration
import Glibc

/// What somebody should know who sets this board up.
struct BoardRemark {
    let root: String

    var lines: [String] {
        [system, board].compactMap { $0 }
    }

    /// A 32-bit system on a 64-bit kernel: Debian's list of architectures begins with its own; it
    /// is there once another was added.
    private var system: String? {
        guard let text = try? SmallFile.read(root + "/var/lib/dpkg/arch", limit: 4_096) else {
            return nil
        }
        let first = String(decoding: text.prefix { $0 != 0x0a }, as: UTF8.self)
        guard ["armhf", "armel", "i386"].contains(first) else { return nil }
        return "warning: this system is 32-bit (\(first)), and the programs are 64-bit: their "
            + "libraries and updates are not its own. Install the 64-bit system of this board, "
            + "which `rivulet board` names"
    }

    private var board: String? {
        let machine = MachineIdentity(root: root)
        let answer = BoardLibrary().board(of: machine)
        if answer.board?.binary == Board.Binary.none {
            return "warning: \(answer.board?.name ?? "this board") is a 32-bit board, for which "
                + "there are no programs yet"
        }
        guard answer.board == nil, machine.hasDeviceTree else { return nil }
        let model = machine.model.isEmpty ? "" : " (\(PlainText.shown(machine.model)))"
        return "this board is not known\(model): everything works but pins by their number on the "
            + "header; `rivulet board` says how to add it"
    }
}
