import Foundation
import NearbyCore
import Telemetry
import Testing

@testable import Sampling
@testable import Sensors

/// A published advertisement, and what it says.
struct BluetoothVector: Sendable, CustomStringConvertible {
    var format: String
    var address: AdvertiserAddress
    var key: [UInt8]?
    var data: [UInt8]
    /// `channel unit value`, or `refused FAULT`.
    var expected: [String]

    var description: String { "\(format) \(digits(data))" }

    static let all: [BluetoothVector] = {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Vectors/advertisements.txt").path
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap(Self.init)
    }()

    init?(_ line: Substring) {
        let halves = line.split(separator: "=", omittingEmptySubsequences: false)
        let words = halves[0].split(separator: " ")
        guard halves.count == 2, words.count == 4,
            let value = AdvertiserAddress.value(of: String(words[1]))
        else { return nil }
        format = String(words[0])
        address = AdvertiserAddress(value: value, isRandom: false)
        key = words[2] == "-" ? nil : bytes(words[2])
        data = bytes(words[3])
        expected = halves[1].split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    func decode(_ data: [UInt8]) throws(AdvertisementFault) -> SensorAdvertisement {
        let opener = key.map(CCMCipher.opener)
        switch format {
        case "ruuvi": return try RuuviFormat.decode(data[...])
        case "bthome": return try BTHomeFormat.decode(data[...], from: address, opener: opener)
        case "atc": return try ATCFormat.decode(data[...], from: address, opener: opener)
        default: return try MiBeaconFormat.decode(data[...], from: address, opener: opener)
        }
    }

    /// The structure of advertising data that carries it, after flags as most devices send them.
    var advertised: [UInt8] {
        let head: [UInt8] =
            switch format {
            case "ruuvi": [0xff, 0x99, 0x04]
            case "bthome": [0x16, 0xd2, 0xfc]
            case "atc": [0x16, 0x1a, 0x18]
            default: [0x16, 0x95, 0xfe]
            }
        return [0x02, 0x01, 0x06, UInt8(head.count + data.count)] + head + data
    }
}

func bytes(_ text: some StringProtocol) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
}

func digits(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

struct BluetoothVectorTests {
    @Test func thereAreVectorsOfEachFormat() {
        for (format, count) in [("ruuvi", 20), ("bthome", 70), ("atc", 12), ("mibeacon", 35)] {
            #expect(BluetoothVector.all.filter { $0.format == format }.count >= count)
        }
    }

    @Test(arguments: BluetoothVector.all) func itSaysWhatIsPublished(_ vector: BluetoothVector) {
        let found: [String]
        do throws(AdvertisementFault) {
            found = try vector.decode(vector.data).values.map(Self.text)
        } catch {
            found = ["refused \(error)"]
        }
        let expected: [String] = vector.expected.map(Self.normal)
        #expect(found == expected)
    }

    /// Damage never traps; and what was sealed is not believed when a bit of it has changed.
    @Test(arguments: BluetoothVector.all) func damageIsNotBelieved(_ vector: BluetoothVector) {
        let whole = try? vector.decode(vector.data)
        for count in 0..<vector.data.count {
            let short = try? vector.decode(Array(vector.data.prefix(count)))
            if vector.key != nil { #expect(short?.values.isEmpty ?? true, "\(count) bytes") }
        }
        for index in vector.data.indices {
            for bit in 0..<8 {
                var changed = vector.data
                changed[index] ^= 1 << UInt8(bit)
                let found = try? vector.decode(changed)
                guard vector.key != nil, let found, !found.values.isEmpty else { continue }
                // MiBeacon leaves its control word out of the seal; without changing what is said.
                #expect(vector.format == "mibeacon" && index < 2, "byte \(index), bit \(bit)")
                #expect(found == whole)
            }
        }
        _ = try? vector.decode(vector.data + [0])
    }

    /// The same through the driver, with the structures around it.
    @Test(arguments: BluetoothVector.all) func damagedStructuresDoNotTrap(
        _ vector: BluetoothVector
    ) {
        let data = vector.advertised
        let driver = BLEDriver(
            .init(
                address: vector.address.value, key: vector.key, every: .seconds(1),
                silentAfter: .seconds(60)))
        var damaged = data.indices.map { Array(data.prefix($0)) }
        for index in data.indices {
            for bit in 0..<8 {
                var changed = data
                changed[index] ^= 1 << UInt8(bit)
                damaged.append(changed)
            }
        }
        for (step, bytes) in damaged.enumerated() {
            let now = Instant.zero + .seconds(Int64(step))
            let given = driver.receive(bytes, from: vector.address, signal: -60, now: now)
            #expect(given.count <= Limits.channelsPerSensorMax)
        }
        #expect(driver.sample(now: Instant.zero + .seconds(100_000)).count <= 33)
    }

    @Test func randomBytesDoNotTrap() {
        var random = SeededGenerator(seed: 5)
        let heads: [[UInt8]] = [
            [0xff, 0x99, 0x04, 0x05], [0x16, 0xd2, 0xfc, 0x40], [0x16, 0x1a, 0x18],
            [0x16, 0x95, 0xfe, 0x50, 0x50], [0x16, 0x95, 0xfe, 0x58, 0x58],
        ]
        let driver = BLEDriver(
            .init(key: [UInt8](repeating: 1, count: 16), every: .zero, silentAfter: .seconds(9)))
        let open = BLEDriver(.init(every: .zero, silentAfter: .seconds(9)))
        for step in 0..<20_000 {
            let head = heads[step % heads.count]
            let count = Int.random(in: 0..<60, using: &random)
            let rest = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let address = AdvertiserAddress(
                value: .random(in: 0..<64, using: &random), isRandom: step % 7 == 0)
            let data = [UInt8(head.count + count)] + head + rest
            let now = Instant.zero + .milliseconds(Int64(step) * 20)
            _ = open.receive(data, from: address, signal: -60, now: now)
            #expect(driver.receive(data, from: address, signal: -60, now: now).isEmpty)
            if step % 50 == 0 {
                let given = open.sample(now: now).count
                #expect(given <= Limits.channelsPerSensorMax + 1)
            }
        }
    }

    private static func text(_ value: SensorAdvertisement.Value) -> String {
        let number: String =
            switch value.outcome {
            case .value(let value): "\(value.rescaled(to: -12) ?? value)"
            case .null: "-"
            }
        return "\(value.name) \(value.unit) \(number)"
    }

    /// With twelve places, as `text` has it.
    private static func normal(_ expected: String) -> String {
        var words = expected.split(separator: " ").map(String.init)
        guard words.count == 3, let value = try? DecimalValue(parsing: words[2]) else {
            return expected
        }
        words[2] = "\(value.rescaled(to: -12) ?? value)"
        return words.joined(separator: " ")
    }
}
