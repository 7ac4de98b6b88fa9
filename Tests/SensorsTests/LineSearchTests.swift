import Glibc
import NearbyCore
import Testing

@testable import Sensors

/// A board as the kernel describes it: a chip with names, two expanders of one kind without.
struct LineSearchTests {
    private static let chips = [
        GPIOChip(
            path: "/dev/gpiochip0", name: "gpiochip0", label: "pinctrl-bcm2711",
            lines: (0..<28).map { GPIOChip.Line(name: "GPIO\($0)", holder: nil) }),
        GPIOChip(
            path: "/dev/gpiochip1", name: "gpiochip1", label: "pcf8574",
            lines: [
                GPIOChip.Line(name: "", holder: "lamp"), GPIOChip.Line(name: "GPIO5", holder: nil),
            ]),
        GPIOChip(path: "/dev/gpiochip2", name: "gpiochip2", label: "pcf8574", lines: []),
    ]

    private func search(_ header: @escaping HeaderPins = { _ in nil }) -> LineSearch {
        LineSearch(chips: GPIOChips(chips: Self.chips), header: header)
    }

    private func text(_ result: Result<FoundLine, LineFault>) -> String {
        switch result {
        case .success(let line): line.description
        case .failure(let fault): "\(fault.reason): \(fault.text)"
        }
    }

    @Test func aLineIsFoundByTheKernelsName() {
        let result = search().find(.pin("GPIO17", chip: nil))
        #expect(text(result) == "GPIO17 (gpiochip0 line 17)")
    }

    @Test(arguments: ["gpiochip1", "1", "/dev/gpiochip1"])
    func aLineIsFoundByChipAndNumber(_ chip: String) throws {
        let line = try search().find(.line(0, chip: chip)).get()
        #expect(line.description == "gpiochip1 line 0")
        #expect(line.path == "/dev/gpiochip1")
        #expect(line.holder == "lamp")
    }

    @Test func aChipIsFoundByItsLabelUnlessTwoHaveIt() {
        let one = search().find(.line(3, chip: "pinctrl-bcm2711"))
        #expect(text(one) == "GPIO3 (gpiochip0 line 3)")
        #expect(
            text(search().find(.line(0, chip: "pcf8574")))
                == "malformed: more than one chip has the label pcf8574; write its name: "
                + "gpiochip1, gpiochip2")
    }

    @Test func aNameThatTwoLinesHaveWantsAChip() {
        #expect(
            text(search().find(.pin("GPIO5", chip: nil)))
                == "malformed: more than one line is called GPIO5: gpiochip0 line 5, "
                + "gpiochip1 line 1; write chip: beside pin:")
        #expect(
            text(search().find(.pin("GPIO5", chip: "gpiochip1"))) == "GPIO5 (gpiochip1 line 1)")
    }

    @Test func aNumberIsAPlaceOnTheHeader() {
        let header: HeaderPins = { $0 == "11" ? ("pinctrl-bcm2711", 17) : nil }
        #expect(text(search(header).find(.pin("11", chip: nil))) == "GPIO17 (gpiochip0 line 17)")
        let unknown = text(search(header).find(.pin("6", chip: nil)))
        #expect(unknown.hasPrefix("absent: no GPIO is known on pin 6 of this board's header; "))
    }

    @Test func aNameThatTheKernelDoesNotKnowMayBeTheBoards() {
        let header: HeaderPins = { $0 == "PC9" ? ("gpiochip0", 9) : nil }
        #expect(text(search(header).find(.pin("PC9", chip: nil))) == "GPIO9 (gpiochip0 line 9)")
    }

    @Test func whatIsNotThereIsToldWithWhatIs() {
        #expect(
            text(search().find(.pin("GPIO99", chip: "gpiochip1")))
                == "absent: no line is called GPIO99; there are: GPIO5")
        #expect(
            text(search().find(.line(2, chip: "1")))
                == "absent: gpiochip1 (pcf8574) has no line 2, only 0 to 1")
        #expect(
            text(search().find(.line(2, chip: "gpiochip7")))
                == "absent: there is no GPIO chip gpiochip7; there are: gpiochip0 "
                + "(pinctrl-bcm2711, 28 lines), gpiochip1 (pcf8574, 2 lines), gpiochip2 "
                + "(pcf8574, 0 lines)")
    }

    @Test func aLongListIsCut() {
        let lines = (0..<1_000).map { GPIOChip.Line(name: "L\($0)", holder: nil) }
        let chips = GPIOChips(chips: [
            GPIOChip(path: "/dev/gpiochip0", name: "gpiochip0", label: "x", lines: lines)
        ])
        let fault = text(LineSearch(chips: chips, header: { _ in nil }).find(.pin("y", chip: nil)))
        #expect(fault.hasSuffix("L38, L39 and 960 more"))
    }

    @Test func withoutChipsThatIsTold() {
        let none = LineSearch(chips: GPIOChips(), header: { _ in nil })
        #expect(
            text(none.find(.pin("GPIO17", chip: nil)))
                == "absent: there is no GPIO chip here (no /dev/gpiochip0); is its driver loaded?")
        let denied = LineSearch(
            chips: GPIOChips(faults: [("/dev/gpiochip0", EACCES)]), header: { _ in nil })
        #expect(
            text(denied.find(.pin("GPIO17", chip: nil)))
                == "denied: /dev/gpiochip0 may not be opened; put the agent's user into its group: "
                + "usermod -aG gpio USER")
        let notAllowed = LineSearch(
            chips: GPIOChips(faults: [("/dev/gpiochip0", EPERM)]), header: { _ in nil })
        #expect(
            text(notAllowed.find(.pin("GPIO17", chip: nil)))
                .hasPrefix("denied: /dev/gpiochip0 is not allowed to this service: its unit lacks"))
    }

    @Test func whoHoldsABusyLineIsTold() throws {
        let line = try search().find(.pin("GPIO17", chip: nil)).get()
        let fault = LineFault(line, LineRequest.Fault(code: EBUSY), holder: "spi0 CS0")
        #expect(fault.reason == .busy)
        #expect(
            fault.text
                == "GPIO17 (gpiochip0 line 17) is held by spi0 CS0; only one can have it: end "
                + "that, or take another line")
        let unnamed = LineFault(line, LineRequest.Fault(code: EBUSY), holder: "")
        #expect(unnamed.text.contains("held by the kernel or a program that gives no name"))
        #expect(LineFault(line, LineRequest.Fault(code: EACCES), holder: nil).reason == .denied)
        #expect(LineFault(line, LineRequest.Fault(code: EINVAL), holder: nil).reason == .failed)
    }
}
