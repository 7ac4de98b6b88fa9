import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Sensors

struct OneWireDriverTests {
    private let tree = SysfsTree()
    private let clock = ManualClock()
    private static let folder = "sys/bus/w1/devices"

    /// As the kernel prints a DS18B20's memory: a real conversion has 0x10 less the low four bits
    /// in its seventh byte.
    private func text(_ millidegrees: Int, byte6: Int? = nil, verdict: String = "YES") -> String {
        let raw = UInt16(bitPattern: Int16(millidegrees * 16 / 1_000))
        let bytes = [
            Int(raw & 0xFF), Int(raw >> 8), 0x4B, 0x46, 0x7F, 0xFF, byte6 ?? 0x10 - Int(raw & 0xF),
            0x10, 0x1C,
        ]
        let words = bytes.map { (byte: Int) -> String in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }
        let line = words.joined(separator: " ")
        return line + " : crc=1c \(verdict)\n" + line + " t=\(millidegrees)\n"
    }

    private func thermometer(_ id: String, _ text: String, resolution: String = "12\n") {
        tree.write("\(Self.folder)/\(id)", ["w1_slave": text, "resolution": resolution])
    }

    private func texts(_ driver: OneWireDriver) -> [String] { driver.sample().map(\.text) }

    private func driver(_ ids: String..., staleAfter: Duration = .zero) -> OneWireDriver {
        OneWireDriver(ids: ids, staleAfter: staleAfter, root: tree.root, clock: clock.read)
    }

    @Test func allThermometersAreReadAndNothingElse() {
        thermometer("28-0001a0115e01", text(21_500))
        thermometer("10-000802824e58", text(-3_062))
        thermometer("3a-0000001234ab", text(1))
        tree.write("\(Self.folder)/w1_bus_master1", ["w1_master_slaves": "x\n"])
        #expect(
            texts(driver()) == ["w1.10-000802824e58 Cel -3.062", "w1.28-0001a0115e01 Cel 21.500"])
        #expect(texts(driver("28-0001a0115e01")) == ["w1.28-0001a0115e01 Cel 21.500"])
    }

    /// A MAX31850 has a DS1825's family, and ones in the upper half of its configuration.
    @Test func aThermocoupleIsReadAndItsFaultIsNoTemperature() {
        let (hot, torn) = ("3b-0000000a0001", "3b-0000000a0002")
        thermometer(hot, "40 4b 90 19 f0 ff ff ff 00 : crc=00 YES\n40 4b t=1204000\n")
        thermometer(torn, "fd 7f 91 19 f0 ff ff ff 00 : crc=00 YES\nfd 7f t=2047750\n")
        thermometer("3b-0000000a0003", "50 05 4b 46 7f ff 0c 10 1c : crc=1c YES\n50 05 t=85000\n")
        thermometer("28-0000000a0004", "40 4b 90 19 f0 ff ff ff 00 : crc=00 YES\n40 4b t=1204000\n")
        #expect(
            texts(driver()) == [
                "w1.28-0000000a0004 Cel null:out-of-range", "w1.\(hot) Cel 1204.000",
                "w1.\(torn) Cel null:failed", "w1.3b-0000000a0003 Cel null:warming-up",
            ])
    }

    @Test func severalConvertAtTheSameTime() {
        tree.write("\(Self.folder)/w1_bus_master1", ["therm_bulk_read": "0\n"])
        thermometer("28-0001a0115e01", text(21_500))
        let both = driver()
        _ = both.sample()
        #expect(
            tree.read("\(Self.folder)/w1_bus_master1/therm_bulk_read") == "0", "one needs no bulk")
        thermometer("28-0001a0115e02", text(22_500))
        _ = both.sample()
        #expect(tree.read("\(Self.folder)/w1_bus_master1/therm_bulk_read") == "trigger")
    }

    @Test func withoutThePrivilegeEachIsConvertedAndThatIsTold() {
        // Opened for writing, a folder is an error for anybody, root too.
        tree.makeFolder("\(Self.folder)/w1_bus_master1/therm_bulk_read")
        thermometer("28-0001a0115e01", text(21_500))
        thermometer("28-0001a0115e02", text(22_500))
        let bus = driver()
        #expect(texts(bus).last == "w1.28-0001a0115e02 Cel 22.500")
        #expect(
            bus.diagnostic == "2 thermometers; converted one after the other: no therm_bulk_read")
    }

    @Test func anEmptyReadWithSuccessIsToldApart() {
        thermometer("28-0001a0115e01", text(21_500))
        thermometer("28-0001a0115e02", "", resolution: "12\n")
        thermometer("28-0001a0115e03", "", resolution: "-5\n")
        thermometer("28-0001a0115e04", "", resolution: "-19\n")
        thermometer("28-0001a0115e05", "\n", resolution: "")
        let bus = driver()
        #expect(
            texts(bus) == [
                "w1.28-0001a0115e01 Cel 21.500", "w1.28-0001a0115e02 Cel null:checksum",
                "w1.28-0001a0115e03 Cel null:absent", "w1.28-0001a0115e04 Cel null:absent",
                "w1.28-0001a0115e05 Cel null:checksum",
            ])
        #expect(
            bus.diagnostic
                == "5 thermometers, 4 without an answer: 28-0001a0115e02, 28-0001a0115e03, "
                + "28-0001a0115e04, 28-0001a0115e05")
    }

    @Test func whatIsNoAnswerIsNull() {
        thermometer("28-0001a0115e01", text(21_500, verdict: "NO"))
        thermometer("28-0001a0115e02", "t=21500\n")
        thermometer("28-0001a0115e03", text(126_000))
        thermometer("28-0001a0115e04", "ff 07 4b 46 7f ff 0c 10 1c : crc=1c YES\nff 07 t=127937\n")
        tree.makeFolder("\(Self.folder)/28-0001a0115e05")
        #expect(
            texts(driver()) == [
                "w1.28-0001a0115e01 Cel null:checksum", "w1.28-0001a0115e02 Cel null:malformed",
                "w1.28-0001a0115e03 Cel null:out-of-range", "w1.28-0001a0115e04 Cel null:failed",
                "w1.28-0001a0115e05 Cel null:absent",
            ])
    }

    @Test func theValueOfThePowerOnStateIsNone() {
        thermometer("28-0001a0115e01", text(85_000, byte6: 0x0C))
        let bus = driver()
        #expect(texts(bus) == ["w1.28-0001a0115e01 Cel null:warming-up"])
        thermometer("28-0001a0115e01", text(21_000))
        _ = bus.sample()
        thermometer("28-0001a0115e01", text(85_000, byte6: 0x0C))
        #expect(texts(bus) == ["w1.28-0001a0115e01 Cel null:warming-up"])
    }

    @Test func aReal85DegreesIsBelieved() {
        thermometer("28-0001a0115e01", text(85_000))
        #expect(texts(driver()) == ["w1.28-0001a0115e01 Cel 85.000"], "its memory proves it")
        // A copy that leaves the byte alone, in a boiler.
        let boiler = driver()
        thermometer("28-0001a0115e01", text(84_000, byte6: 0x0C))
        _ = boiler.sample()
        thermometer("28-0001a0115e01", text(85_000, byte6: 0x0C))
        #expect(texts(boiler) == ["w1.28-0001a0115e01 Cel 85.000"])
        #expect(texts(boiler) == ["w1.28-0001a0115e01 Cel 85.000"])
    }

    /// The first answer is that of the power-on state, the second that of a conversion: through a
    /// FIFO, which gives each reader another one.
    @Test func afterPowerOnASecondConversionIsAskedFor() {
        let id = "28-0001a0115e01"
        tree.makeFolder("\(Self.folder)/\(id)")
        let path = "\(tree.root)/\(Self.folder)/\(id)/w1_slave"
        mkfifo(path, 0o600)
        let answers = [text(85_000, byte6: 0x0C), text(19_937)]
        let writer = WriterThread(path: path, texts: answers)
        #expect(texts(driver()) == ["w1.\(id) Cel 19.937"])
        writer.join()
    }

    @Test func aPulledSensorIsNullAndTheOthersGoOn() {
        thermometer("28-0001a0115e01", text(21_500))
        thermometer("28-0001a0115e02", text(22_500))
        let bus = driver()
        _ = bus.sample()
        tree.remove("\(Self.folder)/28-0001a0115e01")
        let after = ["w1.28-0001a0115e02 Cel 22.500", "w1.28-0001a0115e01 Cel null:absent"]
        #expect(texts(bus) == after)
        #expect(texts(driver("28-0001a0115e01")) == ["w1.28-0001a0115e01 Cel null:absent"])
        thermometer("28-0001a0115e01", text(20_000))
        #expect(texts(bus).first == "w1.28-0001a0115e01 Cel 20.000")
    }

    @Test func oneThatRepeatsItselfIsFrozenOnlyIfAsked() {
        thermometer("28-0001a0115e01", text(21_500))
        thermometer("28-0001a0115e02", text(22_500))
        let (patient, strict) = (driver(), driver(staleAfter: .seconds(60)))
        for bus in [patient, strict] { _ = bus.sample() }
        clock.advance(.seconds(60))
        thermometer("28-0001a0115e02", text(22_562))
        #expect(texts(patient).first == "w1.28-0001a0115e01 Cel 21.500")
        #expect(
            texts(strict) == [
                "w1.28-0001a0115e01 Cel null:frozen", "w1.28-0001a0115e02 Cel 22.562",
            ])
    }

    @Test(arguments: [
        "", "\n\n", "50 05 4b 46 7f ff 0c 10 1c : crc=1c YES\n", "x\nt=1\n",
        "50 05 4b 46 7f ff 0c 10 : crc=1c YES\n50 t=85000\n",
        "50 05 4b 46 7f ff 0c 10 1c : crc=1c YES\n50 t=hot\n",
        "500 05 4b 46 7f ff 0c 10 1c : crc=1c YES\n50 t=1\n",
        "50 05 4b 46 7f ff 0c 10 1c : crc=1c YES\n50 t=1\nmore\n",
    ])
    func onlyAWholeAnswerIsOne(_ text: String) {
        #expect(OneWireScratchpad(parsing: text) == nil)
    }

    @Test(arguments: [
        "28-0001a0115e01", "10-000802824e58", "22-0000001234ab", "3b-0000001234ab",
        "42-0000001234ab",
    ])
    func theseAreThermometers(_ id: String) { #expect(OneWireFamily.part(of: id) != nil) }

    @Test(arguments: [
        "28", "28-", "28-0001a0115e0", "28-0001A0115E01", "28-0001a0115e0g", "01-0001a0115e01",
        "28-0001a0115e01-2", "../0001a0115e01", "w1_bus_master1", "",
    ])
    func theseAreNot(_ id: String) { #expect(OneWireFamily.part(of: id) == nil) }
}
