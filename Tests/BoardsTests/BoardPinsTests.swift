import Testing

@testable import Boards

struct BoardPinsTests {
    @Test func chipIsItsLabelWhereItsDeviceIsNotThere() throws {
        let root = MachineRoot()
        root.setCompatible(["raspberrypi,5-model-b", "brcm,bcm2712"])
        let pins = BoardPins(library: Committed.library, root: root.path)
        let place = try #require(pins.place(of: "11"))
        #expect(place.chip == "pinctrl-rp1")
        #expect(place.line == 17)
        #expect(pins.place(of: "GPIO28") == nil)
        #expect(pins.names.count == 28)
    }

    /// A BeagleBone with a kernel that finds gpio0 last: the labels are those of other banks.
    @Test func deviceDecidesWhereLabelsAreInTheWrongOrder() throws {
        let root = MachineRoot()
        root.setCompatible(["ti,am335x-bone-black", "ti,am335x-bone", "ti,am33xx"])
        let devices = ["4804c000", "481ac000", "481ae000", "44e07000"]
        for (number, device) in devices.enumerated() {
            root.link(
                "/sys/bus/gpio/devices/gpiochip\(number)",
                to: "../../../devices/platform/ocp/\(device).gpio/gpiochip\(number)")
        }
        let pins = BoardPins(library: Committed.library, root: root.path)
        #expect(try #require(pins.place(of: "P9_12")).chip == "gpiochip0")
        #expect(try #require(pins.place(of: "P9_11")).chip == "gpiochip3")
        #expect(try #require(pins.place(of: "GPIO3_21")).chip == "gpiochip2")
    }

    @Test func unknownBoardHasNoPins() {
        let root = MachineRoot()
        root.setCompatible(["acme,board"])
        let pins = BoardPins(library: BoardLibrary(folders: ["/nowhere"]), root: root.path)
        #expect(pins.place(of: "GPIO17") == nil)
        #expect(pins.names.isEmpty)
    }

    @Test func boardIsReadOnce() {
        let root = MachineRoot()
        root.setCompatible(["acme,test"])
        root.write("/boards/acme,test.yaml", BoardMistakeTests.good)
        let pins = BoardPins(
            library: BoardLibrary(folders: [root.path + "/boards"]), root: root.path)
        #expect(pins.names == ["GPIO5", "GPIO6"])
        root.write("/boards/acme,test.yaml", "")
        #expect(pins.names == ["GPIO5", "GPIO6"])
    }
}
