import Foundation
import Testing

@testable import Boards

/// What is wrong with a board file is told by line and column.
struct BoardMistakeTests {
    static let good = """
        name: Test board
        compatible: ["acme,test"]
        binary: arm64
        chips:
          - {name: main, label: pinctrl-acme, lines: 8}
        headers:
          - name: J1
            chip: main
            pins:
              - {pin: 1, name: 3V3, kind: power}
              - {pin: 2, name: GPIO5, line: 5}
              - {pin: 3, name: GPIO6, line: 6}
        buses:
          - {kind: i2c, name: I2C1, device: /dev/i2c-1, pins: [GPIO5, GPIO6]}
        sources: [somewhere]
        """

    @Test func goodBoardHasNoMistakes() {
        let outcome = Board.decode(Array(Self.good.utf8), file: "f")
        #expect(outcome.mistakes == [])
        #expect(outcome.board?.line(named: "3")?.line == 6)
    }

    /// A text in the good file, what stands there instead, and what is said.
    @Test(arguments: [
        (
            "{pin: 3, name", "{pin: 2, name",
            "12:9: J1's pin 2 comes twice, first in line 11; leave one out"
        ),
        (
            "name: GPIO6", "name: gpio5",
            "12:9: the pin gpio5 comes twice, first in line 11; leave one out"
        ),
        (
            "line: 6", "line: 5",
            "12:9: the line 5 of main comes twice, first in line 11; leave one out"
        ),
        ("line: 6", "line: 8", "12:9: GPIO6 is line 8 of main, which has 8 lines, from 0"),
        (
            "chip: main", "chip: mian",
            "11:9: GPIO5 is on the chip mian, which is not among the chips; did you mean main?"
        ),
        ("    chip: main\n", "", "10:24: GPIO5 is a GPIO; it or its header needs the key chip"),
        (", line: 6", "", "12:24: GPIO6 is a GPIO; it needs the key line"),
        (
            "kind: power", "kind: power, line: 1",
            "10:48: 3V3 is no GPIO (kind: power) and has no line; leave it out"
        ),
        (
            "[GPIO5, GPIO6]", "[GPIO5, GPIO7]",
            "14:5: I2C1 has the pin GPIO7, which is in no header; did you mean GPIO5?"
        ),
        ("device: /dev/i2c-1", "device: i2c-1", "14:37: device is 'i2c-1'; it must be a path in "),
        (
            "sources: [somewhere]", "sources: []",
            "15:10: sources has no entry; name where the facts come from"
        ),
        ("sources: [somewhere]", "", "1:1: the board needs the key sources; it must be a list"),
        ("binary: arm64", "binary: arm65", "3:9: binary is 'arm65'; it must be one of arm64, "),
        (
            "acme,test", "acme/../test",
            "2:14: compatible has 'acme/../test'; it must be a string of the device tree"
        ),
        ("kind: i2c", "knid: i2c", "14:6: unknown key knid in a bus; did you mean kind?"),
        ("pin: 3", "pin: three", "12:15: pin is 'three'; it must be a whole number from 1 to 200"),
        ("name: J1\n", "name: J1\n    columns: 3\n", "8:14: columns is '3'; it must be a whole"),
    ])
    func mistake(_ text: String, _ wrong: String, _ message: String) {
        let file = Self.good.replacingOccurrences(of: text, with: wrong)
        #expect(file != Self.good)
        let mistakes = Board.decode(Array(file.utf8), file: "f").mistakes
        #expect(mistakes.contains { $0.hasPrefix(message) }, "\(mistakes)")
    }

    @Test func noBytesOfAFileTrap() {
        let bytes = Array(Self.good.utf8)
        for end in bytes.indices { _ = Board.decode(Array(bytes[..<end]), file: "f") }
        for index in bytes.indices {
            for bit in [1, 4, 16, 128] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= bit
                _ = Board.decode(damaged, file: "f")
            }
        }
    }

    @Test func aBadFileIsPassedOverAndTold() {
        let root = MachineRoot()
        root.write("/a/acme,test.yaml", Self.good.replacingOccurrences(of: "arm64", with: "x"))
        root.write("/a/other.yaml", "name: [")
        root.write("/b/acme,test.yaml", Self.good)
        root.setCompatible(["acme,test", "acme,soc"])
        let library = BoardLibrary(folders: ["\(root.path)/a", "\(root.path)/b", "/nowhere"])
        let answer = library.board(of: MachineIdentity(root: root.path))
        #expect(answer.board?.name == "Test board")
        #expect(answer.file == "\(root.path)/b/acme,test.yaml")
        #expect(answer.mistakes.map(\.mark.line) == [3])
        #expect(library.names == ["acme,test", "other"])
        #expect(library.all().mistakes.count == 2)
    }

    @Test func whatADeviceTreeSaysIsNoPath() {
        let root = MachineRoot()
        root.write("/secret.yaml", Self.good)
        root.makeFolder("/boards")
        root.setCompatible(["../secret", ".hidden", "a/b", String(repeating: "x", count: 200)])
        let machine = MachineIdentity(root: root.path)
        #expect(machine.compatible == [])
        #expect(machine.hasDeviceTree)
        let library = BoardLibrary(folders: ["\(root.path)/boards"])
        #expect(library.board(of: machine).board == nil)
        #expect(library.board(named: "../secret").board == nil)
    }
}
