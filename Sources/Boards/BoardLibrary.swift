import Configuration
import Glibc

/// The folders with board files. A file is named by the first of its `compatible` strings, so that
/// a machine's own file is found without reading the others.
public struct BoardLibrary: Sendable {
    public let folders: [String]

    /// What a look into the folders gave. A file with a mistake is passed over; its mistakes are
    /// told.
    public struct Answer: Sendable {
        public var board: Board?
        /// The board's file.
        public var file: String?
        public var mistakes: [Mistake] = []
    }

    /// The file of machines without a device tree.
    static let generic = "generic-pc"
    static let filesMax = 256

    /// A name that is in two folders counts in the first.
    public init(folders: [String] = BoardLibrary.standardFolders) { self.folders = folders }

    /// Where files are looked for: `boards` of the checkout that the program is in, if any;
    /// what was added on this machine; what was installed with the program.
    public static var standardFolders: [String] {
        (checkout.map { [$0] } ?? [])
            + ["/usr/local/share/rivulet/boards", "/usr/share/rivulet/boards"]
    }

    /// The folder `boards` in the nearest folder above the program that has a Package.swift.
    private static var checkout: String? {
        guard var path = SystemTree().target("/proc/self/exe") else { return nil }
        while let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            path = String(path[..<slash])
            if access(path + "/Package.swift", F_OK) == 0 {
                return access(path + "/boards", F_OK) == 0 ? path + "/boards" : nil
            }
        }
        return nil
    }

    /// The board that this is. First the files named by what the device tree says, then, for the
    /// names that vendors' kernels use, the `compatible` of all others. Without a device tree:
    /// the generic PC.
    public func board(of machine: MachineIdentity) -> Answer {
        var answer = Answer()
        guard machine.hasDeviceTree else {
            read(Self.generic, into: &answer)
            return answer
        }
        for name in machine.compatible where answer.board == nil { read(name, into: &answer) }
        guard answer.board == nil else { return answer }
        let (boards, mistakes) = all()
        for name in machine.compatible {
            if let match = boards.first(where: { $0.board.compatible.contains(name) }) {
                return Answer(board: match.board, file: match.file, mistakes: mistakes)
            }
        }
        return Answer(mistakes: mistakes)
    }

    /// The board of a file's name, or that people call so.
    public func board(named name: String) -> Answer {
        var answer = Answer()
        if BoardText.isFileName(name) { read(name, into: &answer) }
        guard answer.board == nil else { return answer }
        let (boards, mistakes) = all()
        let wanted = name.lowercased()
        let match = boards.first { entry in
            entry.board.name.lowercased() == wanted || entry.board.compatible.contains(name)
        }
        return Answer(board: match?.board, file: match?.file, mistakes: mistakes)
    }

    /// Every board, in the order of the files' names, and the mistakes of files that are none.
    public func all() -> (boards: [(board: Board, file: String)], mistakes: [Mistake]) {
        var answer = Answer()
        var boards: [(board: Board, file: String)] = []
        for name in names {
            answer.board = nil
            read(name, into: &answer)
            if let board = answer.board, let file = answer.file { boards.append((board, file)) }
        }
        return (boards, answer.mistakes)
    }

    /// Names of the files, without `.yaml`, each once.
    public var names: [String] {
        let files = folders.flatMap { SystemTree().names(in: $0) }
        let names = Set(files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) })
        return Array(names.filter(BoardText.isFileName).sorted().prefix(Self.filesMax))
    }

    /// Takes the first good file of a name.
    private func read(_ name: String, into answer: inout Answer) {
        for folder in folders {
            let file = "\(folder)/\(name).yaml"
            let text: [UInt8]
            do throws(SmallFile.Fault) {
                text = try SmallFile.read(file, limit: YAMLNode.byteCountMax)
            } catch {
                if case .system(ENOENT) = error { continue }
                if case .system(ENOTDIR) = error { continue }
                answer.mistakes.append(Mistake(file: file, mark: .start, message: "\(error)"))
                continue
            }
            switch Board.decode(text, file: file) {
            case .good(let board):
                answer.board = board
                answer.file = file
                return
            case .bad(let mistakes): answer.mistakes += mistakes
            }
        }
    }
}
