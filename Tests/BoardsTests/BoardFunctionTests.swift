import Testing

@testable import Boards

/// What the pins of the boards do besides GPIO.
struct BoardFunctionTests {
    static let files: [String] = {
        var files: [String] = []
        for machine in BoardFileTests.machines where !files.contains(machine.file) {
            files.append(machine.file)
        }
        return files
    }()
    static let likeRaspberryPi: [String] = files.filter { !$0.hasPrefix("ti,") }

    /// Every wire of a bus is on a pin that can be this wire, and no two are the same wire.
    @Test(arguments: files)
    func busesAreOnPinsThatCanBeTheirs(_ file: String) throws {
        let board = try Committed.board(file)
        let kinds: [Bus.Kind] = [.i2c, .spi, .uart, .can]
        var count = 0
        for bus in board.buses where kinds.contains(bus.kind) {
            var wires: Set<String> = []
            for name in bus.pins {
                let pin = try #require(board.pin(named: name))
                let wire = pin.functions.first { Self.isWire($0, of: bus.name) }
                #expect(wire != nil, "\(name) is no pin of \(bus.name)")
                if let wire { wires.insert(wire) }
            }
            #expect(wires.count == bus.pins.count, "\(bus.name)")
            count += 1
        }
        #expect(count >= 3)
    }

    /// I2C5_SDA_M3 of I2C5; Broadcom's tables have SDA1 of I2C1 and TXD1 of the mini-UART.
    private static func isWire(_ function: String, of bus: String) -> Bool {
        switch bus {
        case "UART": return ["TXD1", "RXD1"].contains(function)
        case "SPICC": return function.hasPrefix("SPI_")
        default:
            let broadcom = bus.hasPrefix("I2C") ? ["SDA", "SCL"].map { $0 + bus.suffix(1) } : []
            return function.hasPrefix(bus + "_") || broadcom.contains(function)
        }
    }

    /// On all boards with a header like the Raspberry Pi's: pin 3 is data and 5 the clock of an
    /// I²C bus, the board sends on pin 8 and receives on 10, and 19, 21 and 23 are an SPI bus, of
    /// which Rockchip calls what it sends TX.
    @Test(arguments: likeRaspberryPi)
    func headerIsLaidOutLikeTheRaspberryPi(_ file: String) throws {
        let board = try Committed.board(file)
        let pins = try #require(board.headers.first).pins
        let wanted: [(number: Int, words: [String])] = [
            (3, ["SDA"]), (5, ["SCL"]), (8, ["TX", "TXD"]), (10, ["RX", "RXD"]),
            (19, ["MOSI", "TX"]), (21, ["MISO", "RX"]), (23, ["SCLK", "CLK"]),
        ]
        for (number, words) in wanted {
            let pin = try #require(pins.first { $0.number == number })
            let found = pin.functions.contains { function in
                let parts = function.split(separator: "_").map { $0.filter(\.isLetter) }
                return parts.contains { words.contains($0) }
            }
            #expect(found, "pin \(number) is \(pin.functions), none of them \(words)")
        }
    }

    /// Single functions, typed from the tables of the pin controllers' drivers and device trees.
    @Test(arguments: [
        ("raspberrypi,4-model-b", "GPIO12", "TXD5"), ("raspberrypi,model-zero-w", "GPIO18", "PWM0"),
        ("raspberrypi,5-model-b", "GPIO18", "PWM0_CHAN2"),
        ("raspberrypi,5-model-b", "GPIO9", "SPI4_MOSI"),
        ("xunlong,orangepi-5", "GPIO4_A3", "UART0_TX_M2"),
        ("xunlong,orangepi-5", "GPIO4_A4", "UART0_RX_M2"),
        ("xunlong,orangepi-5", "GPIO1_B7", "I2C5_SDA_M3"),
        ("xunlong,orangepi-zero3", "PH5", "I2C3_SDA"),
        ("xunlong,orangepi-zero3", "PH9", "SPI1_CS1"),
        ("radxa,rockpi4", "GPIO1_B0", "UART4_TX"), ("radxa,rockpi4", "GPIO2_A7", "I2C7_SDA"),
        ("libretech,aml-s905x-cc", "GPIOAO_5", "I2C_AO_SDA"),
        ("libretech,aml-s905x-cc", "GPIOX_12", "UART_A_TX"),
        ("ti,am335x-bone-black", "P9_18", "SPI0_D1"),
        ("ti,am335x-bone-black", "P9_24", "UART1_TXD"),
    ])
    func pinHasTheFunction(_ file: String, _ name: String, _ function: String) throws {
        let pin = try #require(try Committed.board(file).pin(named: name))
        #expect(pin.functions.contains(function), "\(pin.functions)")
    }
}
