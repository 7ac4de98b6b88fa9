import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import Outputs

struct SparkplugTests {
    private let now: Int64 = 1_763_885_700_000

    private func edge() -> SparkplugEdge {
        var edge = SparkplugEdge(group: "plant", edge: "gate", start: 255)
        edge.connect()
        return edge
    }

    /// The last component but those of groups and names: `NBIRTH`.
    private func types(_ messages: [MQTTMessage]) -> [Substring] {
        messages.map { $0.topic.split(separator: "/")[2] }
    }

    /// Field 3 of a payload.
    private func sequence(_ message: MQTTMessage) -> UInt64? {
        var reader = ProtobufReader(message.payload[...])
        while let (field, value) = reader.next() {
            if field == 3, case .number(let number) = value { return number }
        }
        return nil
    }

    /// The metrics' fields, by number.
    private func metrics(_ message: MQTTMessage) -> [[UInt64: ProtobufReader.Value]] {
        var reader = ProtobufReader(message.payload[...])
        var metrics: [[UInt64: ProtobufReader.Value]] = []
        while let (field, value) = reader.next() {
            guard field == 2, case .bytes(let bytes) = value else { continue }
            var inner = ProtobufReader(bytes)
            var metric: [UInt64: ProtobufReader.Value] = [:]
            while let (field, value) = inner.next() { metric[field] = value }
            metrics.append(metric)
        }
        return metrics
    }

    private func number(_ value: ProtobufReader.Value?) -> UInt64? {
        if case .number(let number)? = value { number } else { nil }
    }

    /// Checked with `protoc --decode` against the published sparkplug_b.proto.
    @Test func aPayloadIsWhatTheProtocolBufferSays() {
        let metric = SparkplugMetric(
            name: "heat", alias: 300, timestamp: 5, isHistorical: true, hasDatatype: true,
            unit: "°C", value: .double(21.5))
        let payload = SparkplugPayload(timestamp: 1_000, sequence: 7, metrics: [metric])
        var bytes: [UInt8] = [0x08, 0xe8, 0x07]  // timestamp 1000
        bytes += [0x12, 0x2c]  // a metric of 44 bytes
        bytes += [0x0a, 4]
        bytes += Array("heat".utf8)
        bytes += [0x10, 0xac, 0x02]  // alias 300
        bytes += [0x18, 5, 0x20, 10, 0x28, 1]  // timestamp, Double, historical
        bytes += [0x4a, 18, 0x0a, 7]  // properties
        bytes += Array("engUnit".utf8)
        bytes += [0x12, 7, 0x08, 12, 0x42, 3]
        bytes += Array("°C".utf8)
        bytes += [0x69, 0, 0, 0, 0, 0, 0x80, 0x35, 0x40]  // 21.5
        bytes += [0x18, 7]  // seq
        #expect(payload.bytes == bytes)
    }

    @Test func birthAndDeathOfAConnectionHaveOneNumberAndTheNextAnother() throws {
        var edge = SparkplugEdge(group: "plant", edge: "gate", start: 254)
        for expected: UInt64 in [255, 0, 1] {
            edge.connect()
            let death = edge.death(utc: now)
            let birth = try #require(edge.birth(utc: now).first)
            #expect(death.topic == "spBv1.0/plant/NDEATH/gate" && death.isAcknowledged)
            #expect(birth.topic == "spBv1.0/plant/NBIRTH/gate" && !birth.isAcknowledged)
            #expect(number(metrics(death).first?[11]) == expected)
            #expect(number(metrics(birth).first?[11]) == expected)
            #expect(sequence(death) == nil && sequence(birth) == 0)
            #expect(!death.isRetained && !birth.isRetained)
        }
    }

    @Test func aDeviceIsBornBeforeItsDataAndDataSpeaksInAliases() throws {
        var edge = edge()
        _ = edge.birth(utc: now)
        let messages = edge.messages(of: Plant.batch([(0, Plant.value(2_150))]), utc: now)
        #expect(types(messages) == ["DBIRTH", "DDATA"])
        #expect(messages.map(sequence) == [1, 2])
        let data = try #require(metrics(messages[1]).first)
        #expect(data[1] == nil && data[4] == nil && data[5] == nil)
        #expect(number(data[3]) == UInt64(now) && number(data[13]) == (21.5).bitPattern)
        let born = metrics(messages[0]).first { number($0[2]) != nil }
        #expect(number(born?[2]) == number(data[2]) && number(born?[4]) == 10)
        let more = edge.messages(of: Plant.batch([(1, .null(.busy))], first: 2), utc: now)
        #expect(types(more) == ["DDATA"])
        let null = try #require(metrics(more[0]).first)
        #expect(number(null[7]) == 1 && null[13] == nil && null[9] != nil)
    }

    @Test func lateReadingsAreHistorical() {
        var edge = edge()
        _ = edge.birth(utc: now)
        _ = edge.messages(of: Plant.batch([(60, Plant.value(1))]), utc: now)
        let late = edge.messages(
            of: Plant.batch([(5, Plant.value(2)), (61, Plant.value(3))], first: 2), utc: now)
        #expect(late.flatMap(metrics).map { number($0[5]) } == [1, nil])
        var batch = Plant.batch([(90, Plant.value(4))], first: 4)
        batch.isHistorical = true
        #expect(edge.messages(of: batch, utc: now).flatMap(metrics).map { number($0[5]) } == [1])
    }

    @Test func aNewChannelHasTheDeviceBornAgainAndAliasesAreNeverShared() {
        var edge = edge()
        _ = edge.birth(utc: now)
        _ = edge.messages(of: Plant.batch([(0, Plant.value(1))]), utc: now)
        let more = edge.messages(
            of: Plant.batch([(0, Plant.value(1))], channel: "fan"), utc: now)
        #expect(types(more) == ["DBIRTH", "DDATA"])
        _ = edge.messages(of: Plant.batch([(0, Plant.value(1))], of: Plant.bench), utc: now)
        let aliases = edge.devices.values.flatMap { $0.channels.values.map(\.alias) }
        #expect(aliases.count == 3 && Set(aliases).count == 3)
    }

    @Test func devicesComeAndGoWithTheirNodes() {
        var edge = edge()
        _ = edge.birth(utc: now)
        let here = Plant.fleet(0, [(Plant.oven, "oven", true, 0)])
        let gone = Plant.fleet(9, [(Plant.oven, "oven", false, 9)])
        #expect(types(edge.messages(of: here, utc: now)) == ["DBIRTH"])
        #expect(edge.messages(of: here, utc: now).isEmpty)
        let death = edge.messages(of: gone, utc: now)
        #expect(types(death) == ["DDEATH"] && death.map(sequence) == [2])
        #expect(edge.messages(of: gone, utc: now).isEmpty)
        #expect(types(edge.messages(of: here, utc: now)) == ["DBIRTH"])
    }

    @Test func aDeviceDiesUnderItsFormerName() {
        var edge = edge()
        _ = edge.birth(utc: now)
        _ = edge.messages(of: Plant.fleet(0, [(Plant.oven, "oven", true, 0)]), utc: now)
        let stove = Plant.fleet(1, [(Plant.oven, "stove", true, 0)])
        let messages = edge.messages(of: stove, utc: now)
        #expect(
            messages.map(\.topic) == [
                "spBv1.0/plant/DDEATH/gate/oven", "spBv1.0/plant/DBIRTH/gate/stove",
            ])
        #expect(messages.map(sequence) == [2, 3])
        // Readings of a run in which it was called otherwise.
        var batch = Plant.batch([(0, Plant.value(1))])
        batch.isHistorical = true
        #expect(types(edge.messages(of: batch, utc: now)) == ["DDATA"])
        #expect(edge.messages(of: stove, utc: now).isEmpty)
        // What is new is called as it is called now.
        let news = edge.messages(of: Plant.batch([(2, Plant.value(1))], first: 2), utc: now)
        #expect(types(news) == ["DDEATH", "DBIRTH", "DDATA"])
    }

    /// Late readings have it born; the board ended while no collector was there.
    @Test func aDeviceThatNobodyHearsDies() {
        var edge = edge()
        _ = edge.birth(utc: now)
        #expect(edge.messages(of: FleetSnapshot(), utc: now).isEmpty)
        var batch = Plant.batch([(0, Plant.value(1))])
        batch.isHistorical = true
        #expect(types(edge.messages(of: batch, utc: now)) == ["DBIRTH", "DDATA"])
        #expect(edge.messages(of: Plant.fleet(3, []), utc: now).isEmpty)
        #expect(edge.messages(of: Plant.fleet(62, []), utc: now).isEmpty)
        #expect(types(edge.messages(of: Plant.fleet(63, []), utc: now)) == ["DDEATH"])
        #expect(edge.messages(of: Plant.fleet(64, []), utc: now).isEmpty)
        // One that the store knows, and that is not heard yet.
        #expect(types(edge.messages(of: batch, utc: now)) == ["DBIRTH", "DDATA"])
        let silent = [(peer: Plant.oven, name: "oven", isOnline: false, age: Int64(90))]
        #expect(edge.messages(of: Plant.fleet(5, silent), utc: now).isEmpty)
        #expect(types(edge.messages(of: Plant.fleet(61, silent), utc: now)) == ["DDEATH"])
    }

    @Test func numbersWrapAfter255() {
        var edge = edge()
        _ = edge.birth(utc: now)
        var numbers: [UInt64?] = []
        for index: Int64 in 0..<260 {
            let batch = Plant.batch([(index, Plant.value(1))], first: UInt64(index + 1))
            numbers += edge.messages(of: batch, utc: now).map(sequence)
        }
        let expected: [UInt64?] = (1...261).map { (number: UInt64) in number % 256 }
        #expect(numbers == expected)
    }

    @Test func rebirthIsWhatItIsCommanded() {
        var edge = edge()
        _ = edge.birth(utc: now)
        _ = edge.messages(of: Plant.fleet(0, [(Plant.oven, "oven", true, 0)]), utc: now)
        var command = SparkplugPayload(timestamp: now)
        command.metrics = [
            SparkplugMetric(
                name: SparkplugEdge.rebirth, timestamp: now, value: .boolean(true))
        ]
        let births = edge.receive(command.bytes, utc: now)
        #expect(types(births) == ["NBIRTH", "DBIRTH"] && births.map(sequence) == [0, 1])
        command.metrics[0].value = .boolean(false)
        #expect(edge.receive(command.bytes, utc: now).isEmpty)
        command.metrics[0].value = .boolean(true)
        command.metrics[0].name = "Node Control/Reboot"
        #expect(edge.receive(command.bytes, utc: now).isEmpty)
    }

    @Test func damagedCommandsDoNothing() {
        var edge = edge()
        var command = SparkplugPayload(timestamp: now)
        command.metrics = [
            SparkplugMetric(
                name: SparkplugEdge.rebirth, timestamp: now, value: .boolean(true))
        ]
        let bytes = command.bytes
        for count in 0..<bytes.count {
            #expect(edge.receive(Array(bytes.prefix(count)), utc: now).isEmpty)
        }
        for index in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[index / 8] ^= 1 << UInt8(index % 8)
            _ = edge.receive(damaged, utc: now)
        }
        let endless = [UInt8](repeating: 0xff, count: 100)
        #expect(edge.receive(endless, utc: now).isEmpty)
        #expect(edge.receive([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f], utc: now).isEmpty)
    }

    @Test func twoNodesOfOneNameAreTwoDevices() {
        var edge = edge()
        _ = edge.birth(utc: now)
        let one = edge.messages(of: Plant.batch([(0, Plant.value(1))]), utc: now)
        let two = edge.messages(of: Plant.batch([(0, Plant.value(1))], of: Plant.bench), utc: now)
        #expect(Set((one + two).map(\.topic)).count == 4 && edge.remarks.count == 1)
    }
}
