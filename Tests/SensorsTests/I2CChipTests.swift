import NearbyCore
import Telemetry
import Testing

@testable import Sensors

struct I2CChipTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)

    private func sample(
        _ chip: inout some I2CChip, _ traffic: I2CTraffic, after seconds: Int64 = 0
    ) throws -> [String] {
        let texts = try chip.sample(traffic, now: start + .seconds(seconds)).map(\.text)
        #expect(traffic.takePauses() <= 100)
        return texts
    }

    @Test func aVL53L0XIsSetUpOnceAndRanges() throws {
        let traffic = I2CTraffic(named: "vl53l0x")
        var chip = TimeOfFlightChip()
        #expect(try sample(&chip, traffic) == ["distance mm 512"])
        #expect(try sample(&chip, traffic) == ["distance mm null:out-of-range"])
        #expect(try sample(&chip, traffic) == ["distance mm null:out-of-range"])
        #expect(traffic.fault == nil)
    }

    @Test func aVL53L0XThatLostItsPowerIsSetUpAgain() throws {
        var chip = TimeOfFlightChip()
        let first = I2CTraffic(named: "vl53l0x")
        #expect(try sample(&chip, first) == ["distance mm 512"])
        // The register that says so is 0xff again.
        let second = I2CTraffic(named: "vl53l0x")
        #expect(try sample(&chip, second) == ["distance mm 512"])
        #expect(second.left == first.left)
    }

    @Test func aVL53L0XThatHangsIsGivenUp() {
        var chip = TimeOfFlightChip()
        let busy = (0..<100).map { _ in "w 83 r 00" }.joined(separator: "\n")
        let lines = (try? SensorFile.read(vectors + "vl53l0x.traffic", limit: 65_536).get()) ?? ""
        let head = lines.split(separator: "\n").prefix { $0 != "w 83 00" } + ["w 83 00"]
        let traffic = I2CTraffic((head.map(String.init) + [busy]).joined(separator: "\n"))
        #expect {
            _ = try chip.sample(traffic, now: start)
        } throws: {
            ($0 as? I2CFault)?.reason == .timeout
        }
        #expect((50...100).contains(traffic.takePauses()))
    }

    private var vectors: String {
        "/" + "\(#filePath)".split(separator: "/").dropLast().joined(separator: "/") + "/Vectors/"
    }

    @Test func whatIsNoVL53L0XIsSaidSo() {
        var chip = TimeOfFlightChip()
        let traffic = I2CTraffic("w 01 r ff\nw c0 r 12")
        #expect {
            _ = try chip.sample(traffic, now: start)
        } throws: {
            ($0 as? I2CFault)?.message.contains("0x12, not 0xee") == true
        }
    }

    @Test func anSCD4xMeasuresByItself() throws {
        let traffic = I2CTraffic(named: "scd4x")
        var chip = CarbonDioxideChip()
        let warming = [
            "co2 ppm null:warming-up", "temperature Cel null:warming-up",
            "humidity %RH null:warming-up",
        ]
        #expect(try sample(&chip, traffic) == warming)
        #expect(
            try sample(&chip, traffic, after: 5)
                == ["co2 ppm 500", "temperature Cel 25.00", "humidity %RH 37.00"])
        #expect(try sample(&chip, traffic, after: 9) == [])
        #expect(
            try sample(&chip, traffic, after: 10)
                == ["co2 ppm 500", "temperature Cel null:checksum", "humidity %RH 37.00"])
        #expect(try sample(&chip, traffic, after: 24) == [])
        #expect(try sample(&chip, traffic, after: 25).first == "co2 ppm null:timeout")
        #expect(try sample(&chip, traffic, after: 30).first == "co2 ppm null:checksum")
        #expect(traffic.fault == nil)
    }

    @Test func theChecksumIsThatOfTheDataSheet() {
        #expect(CarbonDioxideChip.checksum([0xbe, 0xef]) == 0x92)
        #expect(CarbonDioxideChip.checksum([0x00, 0x00]) == 0x81)
    }

    @Test(arguments: [
        (
            "00 00 81 00 00 81 00 00 81", "co2 ppm null:out-of-range", "temperature Cel -45.00",
            "humidity %RH 0.00"
        ),
        (
            "ff ff ac ff ff ac ff ff ac", "co2 ppm null:out-of-range", "temperature Cel 130.00",
            "humidity %RH 100.00"
        ),
    ])
    func theEndsOfTheScaleAreExact(
        _ answer: String, _ carbonDioxide: String, _ temperature: String, _ humidity: String
    ) throws {
        var chip = CarbonDioxideChip()
        let traffic = I2CTraffic("w e4 b8\nr 80 06 04\nw ec 05\nr \(answer)")
        #expect(try sample(&chip, traffic) == [carbonDioxide, temperature, humidity])
    }

    @Test func anADS1115GivesExactVolts() throws {
        let traffic = I2CTraffic(named: "ads1115")
        var chip = VoltageChip(inputs: [4, 0, 7], gain: 2)
        #expect(
            try sample(&chip, traffic)
                == ["ain0 V 1.0240000", "ain0-ain1 V -0.0000625", "ain3 V null:out-of-range"])
        #expect(traffic.fault == nil)
    }

    @Test(arguments: [
        (0, "c1", "-6.1438125"), (1, "c3", "-4.095875"), (2, "c5", "-2.0479375"),
        (3, "c7", "-1.02396875"), (4, "c9", "-0.511984375"), (5, "cb", "-0.2559921875"),
    ])
    func eachGainHasItsStep(_ gain: Int, _ configuration: String, _ volts: String) throws {
        var chip = VoltageChip(inputs: [4], gain: gain)
        let traffic = I2CTraffic("w 01 \(configuration) 83\nw 01 r 80 00\nw 00 r 80 01")
        #expect(try sample(&chip, traffic) == ["ain0 V \(volts)"])
    }

    @Test func allEightInputsTakeLessThan100Milliseconds() throws {
        var chip = VoltageChip(inputs: Array(0..<8), gain: 1)
        let text = (0..<8).map { input in
            let high = String(0x80 | input << 4 | 3, radix: 16)
            return "w 01 \(high) 83\nw 01 r 80 00\nw 00 r 00 08"
        }
        let traffic = I2CTraffic(text.joined(separator: "\n"))
        #expect(try sample(&chip, traffic).last == "ain3 V 0.001000")
        #expect(traffic.fault == nil)
    }

    @Test func aPCF8574GivesItsPins() throws {
        var chip = InputChip()
        #expect(
            try sample(&chip, I2CTraffic("r a5")) == [
                "p0 1 1", "p1 1 0", "p2 1 1", "p3 1 0", "p4 1 0", "p5 1 1", "p6 1 0", "p7 1 1",
            ])
    }

    @Test func aDriverThatMeetsNobodyGivesNullsAndSaysWhy() {
        let driver = I2CDriver(.inputs, name: "i2c", channel: "door") { () throws(I2CFault) in
            throw I2CFault(reason: .denied, message: "may not")
        }
        #expect(driver.sample().map(\.text).last == "door.p7 1 null:denied")
        #expect(driver.diagnostic == "may not")
        let traffic = I2CTraffic("r !\nr ff")
        let other = I2CDriver(.inputs, name: "i2c", channel: nil) { () throws(I2CFault) in traffic }
        #expect(other.sample().map(\.text).first == "p0 1 null:absent")
        #expect(other.diagnostic == "refused")
        #expect(other.sample().map(\.text).first == "p0 1 1")
        #expect(other.diagnostic == nil)
    }

    @Test func whatHasNoBusIsToldWhatToDo() {
        let folder = TemporaryFolder()
        #expect {
            _ = try LinuxI2CBus(bus: 1, address: 0x29, root: folder.path)
        } throws: {
            guard let fault = $0 as? I2CFault else { return false }
            return fault.reason == .absent && fault.message.contains("dtparam=i2c_arm=on")
        }
        // A file that is no bus.
        folder.write("dev/i2c-3", "")
        #expect {
            _ = try LinuxI2CBus(bus: 3, address: 0x29, root: folder.path)
        } throws: {
            ($0 as? I2CFault)?.reason == .failed
        }
        #expect(LinuxI2CBus.kernelDriver(0x48, 1, root: folder.path) == nil)
    }
}
