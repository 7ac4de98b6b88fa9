import NearbyCore
import Testing
import VectorFile

@testable import NearbyBluetooth

/// The layouts are those of BlueZ's doc/mgmt-api.txt.
struct ManagementTests {
    @Test(arguments: [
        (ManagementCommand.readIndexList, UInt16?.none, "0300 ffff 0000"),
        (.readInformation, 0, "0400 0000 0000"),
        (.setPowered(true), 1, "0500 0100 0100 01"),
        (.setPowered(false), 1, "0500 0100 0100 00"),
        (.setConnectable(true), 0, "0700 0000 0100 01"),
        (.setLowEnergy(true), 0x0102, "0d00 0201 0100 01"),
        (.startDiscovery, 0, "2300 0000 0100 06"),
        (.stopDiscovery, 0, "2400 0000 0100 06"),
        (.readAdvertisingFeatures, 0, "3d00 0000 0000"),
        (
            .addAdvertising(instance: 5, data: [0x02, 0x01, 0x06]), 0,
            "3e00 0000 0e00 05 01000000 0000 0000 03 00 020106"
        ),
        (.removeAdvertising(instance: 5), 0, "3f00 0000 0100 05"),
        (
            .addMonitor([AdvertisementPattern(type: 0x21, beginning: [0x4d, 0xb9])]), 0,
            "5200 0000 2300 01 21 00 02 4db9" + String(repeating: "00", count: 29)
        ),
        (
            .addMonitor([
                AdvertisementPattern(type: 0xff, beginning: [0x99, 0x04]),
                AdvertisementPattern(type: 0x16, beginning: [0xd2, 0xfc]),
            ]), 0,
            "5200 0000 4500 02 ff 00 02 9904" + String(repeating: "00", count: 29)
                + "16 00 02 d2fc" + String(repeating: "00", count: 29)
        ),
        (.removeMonitor(handle: 0x0304), 0, "5300 0000 0200 0403"),
    ])
    func commandsAreEmitted(_ command: ManagementCommand, _ index: UInt16?, _ bytes: String) {
        #expect(command.bytes(for: index) == hex(bytes))
    }

    @Test(arguments: [
        ("0400 0300 0000", UInt16?.some(3), ManagementEvent.Body.indexAdded),
        ("0500 0300 0000", 3, .indexRemoved),
        ("0600 0000 0400 810a0000", 0, .newSettings(ControllerSettings(rawValue: 0x0a81))),
        ("1300 0000 0200 06 01", 0, .discovering(true)),
        ("1300 0000 0200 06 00", 0, .discovering(false)),
        ("2300 0000 0100 05", 0, .advertisingAdded(instance: 5)),
        ("2400 0000 0100 05", 0, .advertisingRemoved(instance: 5)),
        ("2c00 0000 0200 0403", 0, .monitorRemoved(handle: 0x0304)),
        ("2e00 0000 0800 00 000000000000 00", 0, .resumed),
        ("0200 0000 0300 0500 12", 0, .failed(.setPowered, .rfkilled)),
        ("0100 0000 0300 0500 0a", 0, .failed(.setPowered, .busy)),
        (
            "0100 ffff 0900 0300 00 0200 0000 0100", nil,
            .completed(.readIndexList, .indices([0, 1]))
        ),
        (
            "0100 0000 0700 0500 00 810a0000", 0,
            .completed(.setPowered, .settings([.powered, .classic, .lowEnergy, .secure]))
        ),
        (
            "0100 0000 0b00 3d00 00 7f000000 1f 1f 05 00", 0,
            .completed(.readAdvertisingFeatures, .advertisingFeatures(instancesMax: 5))
        ),
        ("0100 0000 0400 2300 00 06", 0, .completed(.startDiscovery, .nothing)),
        ("0100 0000 0500 5200 00 0100", 0, .completed(.addMonitor, .monitor(handle: 1))),
        ("0b00 0000 0000", 0, .other(0x000b)),
        ("0100 0000 0300 0100 00", 0, .other(0x0001)),
    ])
    func eventsAreParsed(_ bytes: String, _ index: UInt16?, _ body: ManagementEvent.Body) throws {
        #expect(
            try ManagementEvent(parsing: hex(bytes)) == ManagementEvent(index: index, body: body))
    }

    @Test func aFoundDeviceIsParsed() throws {
        let event = try ManagementEvent(parsing: vector("device-found"))
        guard case .found(let address, let rssi, let data) = event.body else {
            Issue.record("\(event)")
            return
        }
        #expect(event.index == 1)
        #expect(address == BluetoothAddress(value: 0x00aa_010b_0042, kind: .lowEnergyPublic))
        #expect(rssi == -60)
        #expect(try Advertisement(parsing: data) == AdvertisementTests.own)
    }

    @Test func theInformationIsParsed() throws {
        let event = try ManagementEvent(parsing: vector("read-information"))
        guard case .completed(.readInformation, .information(let information)) = event.body else {
            Issue.record("\(event)")
            return
        }
        #expect(information.address == 0x00aa_010b_0042)
        #expect(information.supported.isSuperset(of: [.powered, .lowEnergy, .classic]))
        #expect(information.current == [.powered, .classic, .lowEnergy, .secure])
    }

    @Test(arguments: ["device-found", "read-information"])
    func damageDoesNotTrap(_ name: String) throws {
        for bytes in damaged(vector(name)) { _ = try? ManagementEvent(parsing: bytes) }
    }

    @Test func truncationIsRefusedAtEveryLength() throws {
        for name in ["device-found", "read-information"] {
            let bytes = vector(name)
            for count in bytes.indices {
                #expect(throws: WireError.self) {
                    try ManagementEvent(parsing: Array(bytes.prefix(count)))
                }
            }
        }
    }

    @Test func lengthsInsideAreChecked() {
        // More indices than bytes, more advertising data than bytes, an address type that is none.
        for text in [
            "0100 ffff 0900 0300 00 ffff 0000 0100",
            "1200 0000 0e00 42000b01aa00 01 c4 00000000 2300",
            "1200 0000 0e00 42000b01aa00 07 c4 00000000 0000",
        ] {
            #expect(throws: WireError.self) { try ManagementEvent(parsing: hex(text)) }
        }
    }

    @Test func noiseDoesNotTrap() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if count >= 6 {
                // Plausible heads come further.
                bytes[0] = UInt8.random(in: 0...0x30, using: &random)
                bytes[1] = 0
                bytes[4] = UInt8(count - 6)
                bytes[5] = 0
            }
            _ = try? ManagementEvent(parsing: bytes)
        }
    }
}

extension ControllerSettings {
    static let secure = ControllerSettings(rawValue: 1 << 11)
}
