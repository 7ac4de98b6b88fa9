import Foundation
import NearbyCore
import Testing

@testable import NearbyBluetooth

/// What a kernel and two nodes really said to each other.
struct CapturedRunTests {
    private static func lines(_ mark: String) throws -> [[UInt8]] {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Vectors/captured-run.txt").path
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix(mark) }.map { hex($0.dropFirst(2)) }
    }

    @Test func everyEventIsUnderstood() throws {
        var found: [BluetoothAddress: Advertisement] = [:]
        for bytes in try Self.lines("<") {
            let event = try ManagementEvent(parsing: bytes)
            switch event.body {
            case .other(let code): Issue.record("event \(code)")
            case .found(let address, _, let data): found[address] = try Advertisement(parsing: data)
            case .completed(.readAdvertisingFeatures, let reply):
                #expect(reply == .advertisingFeatures(instancesMax: 3))
            default: break
            }
        }
        #expect(
            found.keys.map(\.description).sorted() == ["00:AA:01:00:00:00", "00:AA:01:01:00:01"])
        #expect(Set(found.values.map(\.networkTag)).count == 1)
        #expect(Set(found.values.map(\.peerPrefix)).count == 2)
    }

    @Test func theKernelTookTheseCommands() throws {
        let sent = try Self.lines(">")
        for (command, index): (ManagementCommand, UInt16?) in [
            (.readIndexList, nil), (.readInformation, 0), (.setPowered(true), 1),
            (.readAdvertisingFeatures, 1), (.startDiscovery, 0), (.stopDiscovery, 0),
            (.removeAdvertising(instance: 3), 1), (.setPowered(false), 1),
        ] {
            #expect(sent.contains(command.bytes(for: index)), "\(command)")
        }
        let advertised = sent.filter { $0.prefix(2) == [0x3e, 0x00] }
        #expect(advertised.count == 2)
        for bytes in advertised {
            let data = Array(bytes.dropFirst(17))
            #expect(try Advertisement(parsing: data)?.bytes == data)
            let again = ManagementCommand.addAdvertising(instance: 3, data: data)
            #expect(again.bytes(for: UInt16(bytes[2])) == bytes)
        }
    }

    @Test func damageDoesNotTrap() throws {
        for message in try Self.lines("<") where message.count < 100 {
            for bytes in damaged(message) {
                guard let event = try? ManagementEvent(parsing: bytes) else { continue }
                if case .found(_, _, let data) = event.body {
                    _ = try? Advertisement(parsing: data)
                }
            }
        }
    }
}

extension BluetoothAddress: Hashable {
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
