import Foundation
import Testing

@testable import Boards

/// The files in `boards/`, all of them.
struct BoardFileTests {
    /// As their kernels say it: most specific first. Each is what `tr '\0' '\n' <
    /// /proc/device-tree/compatible` prints on that board.
    static let machines: [(file: String, compatible: [String])] = [
        ("raspberrypi,model-zero-w", ["raspberrypi,model-zero-w", "brcm,bcm2835"]),
        ("raspberrypi,model-zero-2-w", ["raspberrypi,model-zero-2-w", "brcm,bcm2837"]),
        ("raspberrypi,3-model-b", ["raspberrypi,3-model-b", "brcm,bcm2837"]),
        ("raspberrypi,3-model-b-plus", ["raspberrypi,3-model-b-plus", "brcm,bcm2837"]),
        ("raspberrypi,4-model-b", ["raspberrypi,4-model-b", "brcm,bcm2711"]),
        ("raspberrypi,400", ["raspberrypi,400", "brcm,bcm2711"]),
        ("raspberrypi,4-compute-module", ["raspberrypi,4-compute-module", "brcm,bcm2711"]),
        ("raspberrypi,5-model-b", ["raspberrypi,5-model-b", "brcm,bcm2712"]),
        ("xunlong,orangepi-zero3", ["xunlong,orangepi-zero3", "allwinner,sun50i-h618"]),
        ("xunlong,orangepi-5", ["xunlong,orangepi-5", "rockchip,rk3588s"]),
        ("xunlong,orangepi-5", ["rockchip,rk3588s-orangepi-5", "rockchip,rk3588"]),
        ("radxa,rockpi4", ["radxa,rockpi4a", "radxa,rockpi4", "rockchip,rk3399"]),
        ("radxa,rockpi4", ["radxa,rockpi4b", "radxa,rockpi4", "rockchip,rk3399"]),
        ("radxa,rockpi4", ["radxa,rockpi4c", "radxa,rockpi4", "rockchip,rk3399"]),
        ("radxa,rockpi4", ["radxa,rockpi4a-plus", "radxa,rockpi4", "rockchip,rk3399"]),
        (
            "ti,am335x-bone-black",
            ["ti,am335x-bone-black", "ti,am335x-bone", "ti,am33xx"]
        ),
        (
            "libretech,aml-s905x-cc",
            ["libretech,aml-s905x-cc", "amlogic,s905x", "amlogic,meson-gxl"]
        ),
    ]

    @Test func allFilesAreGood() {
        let (boards, mistakes) = Committed.library.all()
        #expect(mistakes.map(\.description) == [])
        #expect(boards.count == 14)
        for (board, file) in boards {
            let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
            #expect(name == board.compatible.first ?? "generic-pc")
            #expect(board.sources.contains { $0.contains("Linux") || $0.contains("linux") })
            #expect(!board.traps.isEmpty, "\(name) has no traps")
        }
        #expect(Set(boards.map(\.board.name)).count == boards.count)
    }

    @Test func noNameIsOfTwoBoards() {
        let names = Committed.library.all().boards.flatMap(\.board.compatible)
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: machines)
    func boardIsRecognised(_ file: String, _ compatible: [String]) {
        let root = MachineRoot()
        root.setCompatible(compatible)
        let answer = Committed.library.board(of: MachineIdentity(root: root.path))
        #expect(answer.file == "\(Committed.folder)/\(file).yaml")
        #expect(answer.mistakes == [])
    }

    @Test(arguments: [
        ["raspberrypi,model-b", "brcm,bcm2835"], ["raspberrypi,500", "brcm,bcm2712"],
        ["friendlyarm,nanopi-r5s", "rockchip,rk3568"], ["xunlong,orangepi-5-plus"], [],
    ])
    func boardOfTheSameProcessorIsNotMistaken(_ compatible: [String]) {
        let root = MachineRoot()
        root.setCompatible(compatible)
        let answer = Committed.library.board(of: MachineIdentity(root: root.path))
        #expect(answer.board == nil)
    }

    @Test func machineWithoutADeviceTreeIsTheGenericPC() {
        let root = MachineRoot()
        root.write("/sys/class/dmi/id/sys_vendor", "ACME\n")
        root.write("/sys/class/dmi/id/product_name", "Box 3\n")
        let machine = MachineIdentity(root: root.path)
        #expect(machine.model == "ACME Box 3")
        let answer = Committed.library.board(of: machine)
        #expect(answer.file == "\(Committed.folder)/generic-pc.yaml")
        #expect(answer.board?.binary == .amd64)
    }

    @Test func thirtyTwoBitBoardsHaveNoBinary() throws {
        let none = Committed.library.all().boards.filter { $0.board.binary == .none }
        #expect(
            none.map(\.board.name).sorted() == ["BeagleBone Black", "Raspberry Pi Zero W"])
    }

    static let raspberries: [String] =
        machines.map(\.file).filter { $0.hasPrefix("raspberrypi") }

    /// What every board with the 40-pin header must agree on, typed from the data sheet of the
    /// first (Raspberry Pi B+, 2014).
    @Test(arguments: raspberries)
    func raspberryPiHeaderIsTheStandardOne(_ file: String) throws {
        let board = try Committed.board(file)
        let header = try #require(board.headers.first)
        #expect(header.pins.map(\.number) == Array(1...40))
        let names =
            "3V3 5V GPIO2 5V GPIO3 GND GPIO4 GPIO14 GND GPIO15 GPIO17 GPIO18 GPIO27 GND GPIO22 "
            + "GPIO23 3V3 GPIO24 GPIO10 GND GPIO9 GPIO25 GPIO11 GPIO8 GND GPIO7 GPIO0 GPIO1 "
            + "GPIO5 GND GPIO6 GPIO12 GPIO13 GND GPIO19 GPIO16 GPIO26 GPIO20 GND GPIO21"
        #expect(header.pins.map(\.name).joined(separator: " ") == names)
        let label =
            switch board.processor {
            case let text where text.hasPrefix("BCM2712"): "pinctrl-rp1"
            case let text where text.hasPrefix("BCM2711"): "pinctrl-bcm2711"
            default: "pinctrl-bcm2835"
            }
        for number in 0...27 {
            let line = board.line(named: "GPIO\(number)")
            #expect(line?.chipLabel == label)
            #expect(line?.line == number)
        }
    }

    /// Elsewhere a line's name says which it is, by the rule of its processor.
    @Test(arguments: [
        ("xunlong,orangepi-zero3", 17), ("xunlong,orangepi-5", 17), ("radxa,rockpi4", 27),
        ("ti,am335x-bone-black", 67),
    ])
    func lineIsWhatItsNameSays(_ file: String, _ lineCount: Int) throws {
        let board = try Committed.board(file)
        var count = 0
        for pin in board.headers.flatMap(\.pins) {
            guard let line = pin.line else { continue }
            let name = Array(pin.name.utf8)
            let digits = { (text: ArraySlice<UInt8>) in Int(String(decoding: text, as: UTF8.self)) }
            let expected: (chip: String, offset: Int?)
            if file.hasSuffix("zero3") {
                // PC7: port C, 32 lines a port.
                expected = ("pio", digits(name[2...]).map { $0 + (Int(name[1]) - 65) * 32 })
            } else if file.hasPrefix("ti") {
                // GPIO1_28.
                expected = ("gpio\(name[4] - 48)", digits(name[6...]))
            } else {
                // GPIO4_C2: groups of eight.
                expected = (
                    "gpio\(name[4] - 48)", digits(name[7...]).map { $0 + (Int(name[6]) - 65) * 8 }
                )
            }
            #expect(line.chip == expected.chip && line.offset == expected.offset, "\(pin.name)")
            count += 1
        }
        #expect(count == lineCount)
    }

    /// Single facts, typed from the kernel's and the makers' tables, not from the files.
    @Test(arguments: [
        ("raspberrypi,4-model-b", "11", "pinctrl-bcm2711", 17),
        ("raspberrypi,4-model-b", "J8_40", "pinctrl-bcm2711", 21),
        ("raspberrypi,5-model-b", "gpio4", "pinctrl-rp1", 4),
        ("raspberrypi,model-zero-w", "7", "pinctrl-bcm2835", 4),
        ("xunlong,orangepi-zero3", "PC7", "300b000.pinctrl", 71),
        ("xunlong,orangepi-zero3", "8", "300b000.pinctrl", 226),
        ("xunlong,orangepi-5", "GPIO1_C6", "gpio1", 22),
        ("xunlong,orangepi-5", "16", "gpio1", 27),
        ("radxa,rockpi4", "GPIO4_C2", "gpio4", 18), ("radxa,rockpi4", "40", "gpio4", 7),
        ("ti,am335x-bone-black", "P9_12", "gpio-32-63", 28),
        ("ti,am335x-bone-black", "p8_46", "gpio-64-95", 7),
        ("libretech,aml-s905x-cc", "7", "periphs-banks", 98),
        ("libretech,aml-s905x-cc", "3", "aobus-banks", 5),
        ("libretech,aml-s905x-cc", "GPIOX_18", "periphs-banks", 97),
    ])
    func namedLine(_ file: String, _ name: String, _ label: String, _ offset: Int) throws {
        let line = try #require(try Committed.board(file).line(named: name))
        #expect(line.chipLabel == label)
        #expect(line.line == offset)
    }

    @Test func whatIsNoLineHasNone() throws {
        let pi = try Committed.board("raspberrypi,4-model-b")
        for name in ["1", "6", "GND", "3V3", "41", "GPIO28", "", "J8_6", "SDA1"] {
            #expect(pi.line(named: name) == nil, "\(name)")
        }
        #expect(pi.pin(named: "6")?.name == "GND")
        // There are several.
        #expect(pi.pin(named: "GND") == nil)
        #expect(pi.lineNames.count == 28)
        // With two headers a number alone says nothing.
        let bone = try Committed.board("ti,am335x-bone-black")
        #expect(bone.line(named: "12") == nil)
        #expect(bone.line(named: "P9_12")?.chipDevice == "4804c000.gpio")
        #expect(bone.line(named: "P9_39") == nil)
    }
}

struct BoardReferenceTests {
    @Test func theCommittedReferenceIsThatOfTheTables() throws {
        // Made by `rivulet reference --boards`.
        let text = try String(contentsOfFile: Committed.folder + "/README.md", encoding: .utf8)
        #expect(text == Board.reference)
    }
}
