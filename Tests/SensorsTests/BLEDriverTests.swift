import DurableFiles
import FailingFiles
import NearbyCore
import Telemetry
import Testing

@testable import Sampling
@testable import Sensors

/// Rates, repetitions, replays and silence of the `ble` driver.
struct BLEDriverTests {
    private static let address = AdvertiserAddress(value: 0xa4c1_388d_18b2, isRandom: false)

    private func driver(
        _ address: AdvertiserAddress? = Self.address, name: String? = "fern", key: String? = nil,
        every: Duration = .seconds(10)
    ) -> BLEDriver {
        BLEDriver(
            .init(
                address: address?.value, name: name, key: key.map { bytes($0) }, every: every,
                silentAfter: .seconds(900)))
    }

    private func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    /// Unencrypted BTHome objects.
    private func home(_ objects: String, information: String = "40") -> [UInt8] {
        let data = bytes(information + objects)
        return [UInt8(data.count + 3), 0x16, 0xd2, 0xfc] + data
    }

    private func hear(
        _ driver: BLEDriver, _ data: [UInt8], _ seconds: Double,
        from address: AdvertiserAddress = Self.address
    ) -> [String] {
        driver.receive(data, from: address, signal: -60, now: at(seconds)).map(\.text)
            .filter { !$0.contains(".signal ") }
    }

    @Test func channelsBeginWithTheNameOrTheAddress() {
        #expect(hear(driver(), home("0100"), 1) == ["fern.battery %EL 0"])
        #expect(
            hear(driver(nil, name: nil), home("0164"), 1)
                == ["A4:C1:38:8D:18:B2.battery %EL 100"])
        let heard = driver().receive(home("0100"), from: Self.address, signal: -60, now: at(1))
        #expect(heard.last?.text == "fern.signal dBm -60")
        #expect(heard.allSatisfy { $0.time == at(1) })
        let unknown = driver().receive(home("0100"), from: Self.address, signal: 127, now: at(1))
        #expect(unknown.last?.text == "fern.signal dBm null:absent")
    }

    @Test func theNewestLevelOfAPeriodIsGiven() {
        let driver = driver()
        #expect(hear(driver, home("00010201 00"), 0) == ["fern.temperature Cel 0.01"])
        #expect(hear(driver, home("00020202 00"), 3) == [])
        #expect(hear(driver, home("00030203 00"), 8) == [])
        #expect(driver.sample(now: at(9)).isEmpty)
        let due = driver.sample(now: at(10)).filter { $0.unit == "Cel" }
        #expect(due.map(\.text) == ["fern.temperature Cel 0.03"])
        #expect(due.first?.time == at(8))
        #expect(driver.sample(now: at(20)).filter { $0.unit == "Cel" }.isEmpty)
        #expect(hear(driver, home("00040204 00"), 21) == ["fern.temperature Cel 0.04"])
    }

    @Test func changesOfStateAndEventsDoNotWait() {
        let driver = driver()
        #expect(hear(driver, home("0001 1a01"), 0) == ["fern.door 1 1"])
        #expect(hear(driver, home("0002 1a00"), 1) == ["fern.door 1 0"])
        #expect(hear(driver, home("0003 1a00"), 2) == [])
        #expect(hear(driver, home("0004 3a01"), 3) == ["fern.button 1 1"])
        #expect(hear(driver, home("0005 3a01"), 3.5) == ["fern.button 1 1"])
        #expect(hear(driver, home("0005 3a01"), 3.6) == [], "the same press heard again")
        #expect(hear(driver, home("0005 3a01"), 30) == [], "and again")
        #expect(hear(driver, home("3a02"), 31) == ["fern.button 1 2"], "without a number")
        #expect(hear(driver, home("3a02"), 32) == [])
        #expect(hear(driver, home("3a02"), 40) == ["fern.button 1 2"])
    }

    @Test func onePacketIsOneMeasurement() {
        let driver = driver(every: .zero)
        #expect(hear(driver, home("0009 0164"), 0) == ["fern.battery %EL 100"])
        #expect(hear(driver, home("0009 0164"), 1) == [])
        #expect(hear(driver, home("0009 0164"), 4) == [])
        #expect(hear(driver, home("000a 0164"), 5) == ["fern.battery %EL 100"])
        #expect(hear(driver, home("000a 0164"), 9.5) == ["fern.battery %EL 100"], "much later")
    }

    /// The counters of bthome-ble's tests/test_parser_v2.py, test_decreasing_encryption_counter and
    /// test_reset_encryption_counter; key and address of bthome.io/encryption.
    @Test func whatWasHeardBeforeIsNotBelievedAgain() {
        let address = AdvertiserAddress(value: 0x5448_e68f_80a5, isRandom: false)
        let driver = driver(address, key: "231d39c1d7cc1ab1aee224cd096db932", every: .zero)
        let third = home("e445f3c9962b 33221100 6c7c4519", information: "41")
        let second = home("723d3035fb88 32221100 9e7414c0", information: "41")
        let fourth = home("3e932cc7175f 34221100 553876af", information: "41")
        let first = home("de40b50e6766 00000000 d7cb95de", information: "41")
        #expect(hear(driver, third, 0, from: address).count == 2)
        #expect(hear(driver, third, 1, from: address).isEmpty)
        #expect(hear(driver, third, 100, from: address).isEmpty, "the same later")
        #expect(hear(driver, second, 101, from: address).isEmpty, "an older one")
        #expect(driver.diagnostic == "heard; 1 played back")
        #expect(hear(driver, fourth, 102, from: address).count == 2)
        #expect(hear(driver, first, 103, from: address).isEmpty)
        #expect(hear(driver, third, 1_001, from: address).isEmpty)
        #expect(!driver.sample(now: at(1_002)).isEmpty, "it is silent")
        #expect(hear(driver, first, 1_003, from: address).count == 2, "a new battery")
    }

    @Test func theCounterOutlastsTheAgent() {
        withTemporaryDirectory { state in
            let address = AdvertiserAddress(value: 0x5448_e68f_80a5, isRandom: false)
            func start(_ now: Double) -> BLEDriver {
                let key = bytes("231d39c1d7cc1ab1aee224cd096db932")
                let driver = BLEDriver(
                    .init(
                        address: address.value, name: "fern", key: key, every: .zero,
                        silentAfter: .seconds(900), state: state))
                // Before the file was read nothing is believed.
                #expect(hear(driver, second, now, from: address).isEmpty)
                _ = driver.sample(now: at(now))
                return driver
            }
            let first = home("de40b50e6766 00000000 d7cb95de", information: "41")
            let second = home("723d3035fb88 32221100 9e7414c0", information: "41")
            let third = home("e445f3c9962b 33221100 6c7c4519", information: "41")
            let fourth = home("3e932cc7175f 34221100 553876af", information: "41")
            let before = start(0)
            #expect(hear(before, third, 1, from: address).count == 2)
            before.finish()
            #expect(names(in: state + "/counters") == ["ble-5448E68F80A5"])

            let after = start(100)
            #expect(hear(after, third, 101, from: address).isEmpty, "the last one again")
            #expect(hear(after, second, 102, from: address).isEmpty)
            #expect(after.diagnostic == "never heard; 1 played back")
            #expect(hear(after, fourth, 103, from: address).count == 2)
            after.finish()

            let later = start(1_000)
            #expect(hear(later, first, 1_800, from: address).isEmpty)
            #expect(hear(later, first, 1_900, from: address).count == 2, "a new battery")
            later.finish()
            // The lower counter is the file's now.
            #expect(hear(start(2_000), second, 2_001, from: address).count == 2)
        }
    }

    @Test func theCounterIsWrittenSeldomAndADamagedFileIsPutAside() throws {
        try withTemporaryDirectory { state in
            let address = AdvertiserAddress(value: 0x5448_e68f_80a5, isRandom: false)
            let path = state + "/counters/ble-5448E68F80A5"
            func content() throws -> String? {
                try AtomicFile.read(path, limit: 99, through: SystemFiles())
                    .map { String(decoding: $0, as: UTF8.self) }
            }
            let files = SystemFiles()
            try files.makeDirectories(state + "/counters", permissions: 0o700)
            try AtomicFile.write(
                Array("rubbish".utf8), to: path, permissions: 0o600, through: files)
            let driver = BLEDriver(
                .init(
                    address: address.value, key: bytes("231d39c1d7cc1ab1aee224cd096db932"),
                    every: .zero, silentAfter: .seconds(900), state: state))
            _ = driver.sample(now: at(0))
            #expect(driver.diagnostic?.contains("is now \(path).damaged") == true)
            let third = home("e445f3c9962b 33221100 6c7c4519", information: "41")
            let fourth = home("3e932cc7175f 34221100 553876af", information: "41")
            #expect(!hear(driver, third, 1, from: address).isEmpty)
            _ = driver.sample(now: at(2))
            #expect(try content() == "\(0x0011_2233)\n")
            #expect(!hear(driver, fourth, 3, from: address).isEmpty)
            _ = driver.sample(now: at(500))
            #expect(try content() == "\(0x0011_2233)\n", "too soon")
            _ = driver.sample(now: at(602))
            #expect(try content() == "\(0x0011_2234)\n")
        }
    }

    @Test func aDeviceThatFallsSilentIsNullUntilItIsBack() {
        let driver = driver()
        #expect(driver.sample(now: at(0)).map(\.text) == ["fern.signal dBm null:warming-up"])
        #expect(driver.sample(now: at(900)).map(\.text) == ["fern.signal dBm null:absent"])
        _ = hear(driver, home("0001 02ca09"), 1_000)
        #expect(driver.sample(now: at(1_899)).isEmpty)
        for now in [1_900.0, 1_910, 5_000] {
            #expect(
                driver.sample(now: at(now)).map(\.text) == [
                    "fern.temperature Cel null:expired", "fern.signal dBm null:expired",
                ])
        }
        #expect(hear(driver, home("0001 02ca09"), 5_001) == ["fern.temperature Cel 25.06"])
        #expect(driver.sample(now: at(5_010)).isEmpty)
    }

    @Test func whoSpeaksOnlyWhenSomethingHappensMayBeSilentForADay() {
        let driver = driver()
        _ = hear(driver, home("0001 1a01", information: "44"), 0)
        #expect(driver.sample(now: at(80_000)).isEmpty)
        #expect(driver.sample(now: at(86_400)).count == 2)
    }

    @Test func whatWasFoundIsForgottenAfterItsSilenceWasTold() {
        let driver = driver(nil, name: nil)
        #expect(driver.sample(now: at(0)).isEmpty)
        #expect(driver.diagnostic == "0 devices")
        _ = hear(driver, home("0001 02ca09"), 1)
        #expect(driver.diagnostic == "1 device")
        #expect(driver.sample(now: at(901)).count == 2)
        #expect(driver.sample(now: at(911)).isEmpty)
        #expect(driver.diagnostic == "0 devices")
    }

    @Test func thereIsRoomForSoManyAndNoneForThoseWhoChangeTheirAddress() {
        let driver = driver(nil, name: nil)
        for number in 0..<UInt64(Limits.advertisersMax) + 8 {
            let address = AdvertiserAddress(value: 0xc000_0000_0000 | number, isRandom: true)
            let heard = hear(driver, home("0164"), 1, from: address)
            #expect(heard.isEmpty == (number >= UInt64(Limits.advertisersMax)))
        }
        #expect(driver.diagnostic?.hasPrefix("32 devices; 8 of others") == true)
        let other = self.driver(nil, name: nil)
        for value: UInt64 in [0x4000_0000_0001, 0x0000_0000_0001, 0x8000_0000_0001] {
            let random = AdvertiserAddress(value: value, isRandom: true)
            #expect(random.isPrivate)
            #expect(hear(other, home("0164"), 1, from: random).isEmpty)
            let known = AdvertiserAddress(value: value, isRandom: false)
            #expect(!hear(other, home("0164"), 1, from: known).isEmpty)
        }
        let configured = AdvertiserAddress(value: 0x4000_0000_0002, isRandom: true)
        #expect(!hear(self.driver(configured), home("0164"), 1, from: configured).isEmpty)
    }

    @Test func onlyTheOneThatIsNamedIsHeard() {
        let stranger = AdvertiserAddress(value: 1, isRandom: false)
        #expect(hear(driver(), home("0164"), 1, from: stranger).isEmpty)
        #expect(driver().address == Self.address.value)
        #expect(driver(nil).address == nil)
    }

    @Test func aManyTonguedDeviceIsHeardInEachOfThem() {
        // bthome-ble's test_bthome_multiple_uuids: encrypted ATC, MiBeacon without objects, BTHome.
        let address = AdvertiserAddress(value: 0xa4c1_3881_24c4, isRandom: false)
        let data: [UInt8] =
            bytes("0e161a18 c4248138c1a456088318bf")
            + bytes("111695fe 30585b0501c4248138c1a4280100") + home("015d 025d09 03b718")
        let driver = driver(address)
        #expect(hear(driver, data, 1, from: address).count == 3)
        #expect(driver.diagnostic == "heard; 1 encrypted, and there is no key")
        let cut = [0xff] + data
        #expect(hear(self.driver(address), cut, 1, from: address).isEmpty)
    }

    @Test func aRuuviTagIsHeardOncePerMeasurement() {
        let payload = "0512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F"
        let data = bytes("020106 1bff9904" + payload)
        let address = AdvertiserAddress(value: 0xcbb8_334c_884f, isRandom: true)
        let driver = driver(nil, name: nil, every: .zero)
        #expect(!address.isPrivate)
        let heard = hear(driver, data, 1, from: address)
        #expect(heard.count == 9)
        #expect(heard.first == "CB:B8:33:4C:88:4F.temperature Cel 24.300")
        #expect(hear(driver, data, 2.3, from: address).isEmpty)
    }

    @Test func addressesAreReadAsTheyAreWritten() {
        #expect(AdvertiserAddress.value(of: "a4:C1:38:8D:18:b2") == Self.address.value)
        #expect(Self.address.description == "A4:C1:38:8D:18:B2")
        for text in ["", "A4:C1:38:8D:18", "A4:C1:38:8D:18:B2:00", "A4C1388D18B2", "+4:1:1:1:1:1"] {
            #expect(AdvertiserAddress.value(of: text) == nil)
        }
    }
}
