import Configuration
import Foundation
import Testing

@testable import Boards

/// A folder that stands for the root of a machine, removed with it.
final class MachineRoot {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "rivulet-boards-" + UUID().uuidString
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) {
        let file = URL(fileURLWithPath: path + name)
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        #expect((try? Data(text.utf8).write(to: file)) != nil, "cannot write \(file.path)")
    }

    func makeFolder(_ name: String) {
        try? FileManager.default.createDirectory(
            atPath: path + name, withIntermediateDirectories: true)
    }

    /// A symbolic link, as /sys has them.
    func link(_ name: String, to target: String) {
        let file = URL(fileURLWithPath: path + name)
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        #expect(symlink(target, file.path) == 0, "cannot link \(file.path)")
    }

    /// What the device tree's root says.
    func setCompatible(_ names: [String], model: String = "a board") {
        write("/proc/device-tree/compatible", names.map { $0 + "\0" }.joined())
        write("/proc/device-tree/model", model + "\0")
    }
}

/// The files of this tree.
enum Committed {
    static let folder: String = {
        let here = "Tests/BoardsTests/Fixtures.swift"
        return String(#filePath.dropLast(here.utf8.count)) + "boards"
    }()

    static let library = BoardLibrary(folders: [folder])

    static func board(_ name: String) throws -> Board {
        try #require(library.board(named: name).board, "no good file \(name)")
    }

    static func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(name).yaml", encoding: .utf8)
    }
}

extension Board.Outcome {
    var board: Board? { if case .good(let board) = self { board } else { nil } }

    /// `line:column: message` of each.
    var mistakes: [String] {
        guard case .bad(let mistakes) = self else { return [] }
        return mistakes.map { String($0.description.dropFirst($0.file.utf8.count + 1)) }
    }
}
