import Foundation
import Testing

@testable import Boards

/// What `rivulet board` prints, against what the files say.
struct BoardReportTests {
    @Test(arguments: ["raspberrypi,4-model-b", "xunlong,orangepi-zero3", "ti,am335x-bone-black"])
    func everyPinIsWhereItLies(_ file: String) throws {
        let board = try Committed.board(file)
        let text = BoardReport(board, file: file, root: nil).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for header in board.headers {
            let start = try #require(lines.firstIndex(of: header.name))
            let rows = lines[(start + 1)...].prefix { !$0.isEmpty }
            var seen: [Int: String] = [:]
            for row in rows {
                let sides = row.components(separatedBy: " │ ")
                try #require(sides.count == 2, "\(row)")
                // …  GPIO2   3 │  4  5V  …
                let left = sides[0].split(separator: " ")
                let right = sides[1].split(separator: " ")
                let odd = try #require(left.last.flatMap { Int($0) })
                let even = try #require(right.first.flatMap { Int($0) })
                #expect(even == odd + 1)
                seen[odd] = left.dropLast().last.map(String.init)
                seen[even] = right.dropFirst().first.map(String.init)
            }
            let expected = Dictionary(
                uniqueKeysWithValues: header.pins.map { ($0.number, $0.name) })
            #expect(seen == expected)
            // The middle is in one column.
            let columns = rows.map { row in row.prefix { $0 != "│" }.count }
            #expect(Set(columns).count == 1)
        }
        let words = text.split { $0.isWhitespace }.joined(separator: " ")
        for trap in board.traps { #expect(words.contains("- " + trap)) }
        #expect(lines.allSatisfy { $0.count <= 100 })
        for overlay in board.overlays {
            for line in overlay.lines { #expect(text.contains(line)) }
        }
        #expect(text.contains(board.binary == .none ? "no binary yet" : "binary: arm64"))
    }

    /// The lines under a bus's name.
    private func part(of text: String, after start: String) -> [String] {
        let lines = text.split(separator: "\n").map(String.init)
        guard let index = lines.firstIndex(where: { $0.hasPrefix(start) }) else { return [] }
        return [lines[index]] + lines[(index + 1)...].prefix { $0.hasPrefix("      ") }
    }

    @Test func whatIsThereAndWhatIsMissingIsTold() throws {
        let root = MachineRoot()
        root.write("/dev/i2c-1", "")
        root.write("/boot/firmware/config.txt", "# dtparam=spi=on\ndtoverlay=i2c-sensor,bme280\r\n")
        root.write("/boot/firmware/overlays/README", "")
        root.write("/boot/firmware/overlays/i2c-sensor.dtbo", "")
        root.write("/sys/class/thermal/thermal_zone0/type", "cpu-thermal\n")
        root.makeFolder("/sys/class/leds/ACT")
        root.link(
            "/sys/bus/gpio/devices/gpiochip0",
            to: "../../../devices/platform/soc/fe200000.gpio/gpiochip0")
        let board = try Committed.board("raspberrypi,4-model-b")
        let text = BoardReport(board, file: "f", root: root.path).text
        #expect(part(of: text, after: "  I2C1")[0].contains("/dev/i2c-1  is there"))
        #expect(!part(of: text, after: "  I2C1").contains("      dtparam=i2c_arm=on"))
        #expect(part(of: text, after: "  SPI0")[0].contains("is missing"))
        // What is commented out is not in the file.
        #expect(part(of: text, after: "  SPI0").contains("      dtparam=spi=on"))
        #expect(part(of: text, after: "  BME280")[0].hasSuffix("(is in the file)"))
        #expect(!part(of: text, after: "  BMP280")[0].contains("(is in the file)"))
        #expect(text.contains("lines for /boot/firmware/config.txt"))
        #expect(text.contains("\n  ACT\n  PWR (missing)\n"))
        #expect(text.contains("\n  cpu-thermal\n"))
        #expect(text.contains("gpio [pinctrl-bcm2711] fe200000.gpio is gpiochip0\n"))
    }

    @Test func overlaysThatTheSystemLacksAreTold() throws {
        let root = MachineRoot()
        root.write("/boot/firmware/config.txt", "dtoverlay=i2c-sensor,bme280\n")
        root.write("/boot/firmware/overlays/w1-gpio.dtbo", "")
        let board = try Committed.board("raspberrypi,4-model-b")
        let text = BoardReport(board, file: "f", root: root.path).text
        #expect(
            part(of: text, after: "  SPI0").contains("      dtparam=spi=on    (not on this system)")
        )
        #expect(part(of: text, after: "  BME280")[0].hasSuffix("(not on this system)"))
        #expect(!part(of: text, after: "  DS18B20")[0].contains("not on this system"))
        #expect(text.contains("- What is marked `not on this system` wants"))
        // Where nothing is known of the system, nothing is told of it.
        let elsewhere = BoardReport(board, file: "f", root: nil).text
        #expect(!elsewhere.contains("not on this system"))
    }

    @Test func anotherBoardIsNotLookedUpHere() throws {
        let board = try Committed.board("raspberrypi,5-model-b")
        let text = BoardReport(board, file: "f", root: nil).text
        #expect(!text.contains("is missing") && !text.contains("is there"))
        #expect(!text.contains("\u{1b}"))
        #expect(text.contains("w1-gpio is unsteady"))
    }

    @Test func coloursAreOnlyWhereTheyAreAskedFor() throws {
        let board = try Committed.board("raspberrypi,4-model-b")
        let plain = BoardReport(board, file: "f", root: nil).text
        let painted = BoardReport(board, file: "f", root: nil, colours: true).text
        #expect(painted.contains("\u{1b}[31m 2  5V\u{1b}[0m"))
        let bare = painted.replacingOccurrences(
            of: "\u{1b}\\[[0-9]+m", with: "", options: .regularExpression)
        #expect(bare == plain)
    }

    @Test func overlaysInOneLineCount() throws {
        let root = MachineRoot()
        root.write("/boot/armbianEnv.txt", "verbosity=1\noverlays=uart5 i2c3-ph\n")
        let tree = SystemTree(root: root.path)
        let file = try #require(BootFile(firstOf: ["/none", "/boot/armbianEnv.txt"], tree))
        #expect(file.path == "/boot/armbianEnv.txt")
        #expect(file.contains("overlays=i2c3-ph"))
        #expect(!file.contains("overlays=i2c3"))
        #expect(!file.contains("overlay=uart5"))
    }

    @Test func unknownBoardGetsAHelpfulAnswer() {
        let root = MachineRoot()
        root.setCompatible(["acme,board3", "rockchip,rk3566"], model: "Acme Board 3")
        root.link(
            "/sys/bus/gpio/devices/gpiochip1",
            to: "../../../devices/platform/pinctrl/fdd60000.gpio/gpiochip1")
        root.link(
            "/sys/class/gpio/gpiochip512",
            to: "../../devices/platform/pinctrl/fdd60000.gpio/gpio/gpiochip512")
        let chip = "/sys/devices/platform/pinctrl/fdd60000.gpio/gpio/gpiochip512"
        root.write(chip + "/label", "gpio0\n")
        root.write(chip + "/ngpio", "32\n")
        let machine = MachineIdentity(root: root.path)
        let library = BoardLibrary(folders: ["/x/boards"])
        let text = UnknownBoardReport(machine, library, root: root.path).text
        for part in [
            "model: Acme Board 3", "compatible: acme,board3", "compatible: rockchip,rk3566",
            "looked in /x/boards", "gpiochip1 [gpio0], 32 lines, fdd60000.gpio",
            "/x/boards/acme,board3.yaml", "no board file there",
        ] {
            #expect(text.contains(part), "\(part)")
        }
    }
}
