import NearbyCore
import Testing
import VectorFile

@testable import NearbyTransfers

@Suite struct TransferFrameTests {
    static let offer = ResourceOffer(
        name: "a.txt", group: 0xabcd, byteCount: 1_000_000, key: (1...16).map { UInt8($0) })
    static let ranges = PacketAcknowledgement(
        of: .reliable, rising: [2..<3, 5..<9], delay: .microseconds(25_000), byteBudget: 1_000)
    static let stream = TransferFrame.Body(.stream, 5)
    static let resource = TransferFrame.Body(.resource, 5)

    static let named: [(String, TransferFrame)] = [
        ("ping", .ping), ("open", .open(number: 5, group: 0xabcd, name: "log")),
        ("offer", .offer(number: 5, offer)),
        ("data", .data(stream, offset: 300, [9, 8, 7], isLast: false)),
        ("data-last", .data(resource, offset: 300, [9, 8, 7], isLast: true)),
        ("reset", .reset(stream, .cancelled, finalSize: 300)),
        ("stop", .stop(resource, .writeFailed)), ("limit", .limit(stream, 300_000)),
        ("limit-of-all", .limitOfAll(.resource, 8_000_000)),
        ("limit-of-numbers", .limitOfNumbers(.stream, 300)),
        ("accept", .accept(number: 5, offset: 300, limit: 524_588)),
        ("digest", .digest(number: 5, (1...32).map { UInt8($0) })),
        ("verified", .verified(number: 5)),
    ]

    static var all: [TransferFrame] {
        let bulk = PacketAcknowledgement(
            of: .bulk, rising: [7..<8], delay: .zero, byteBudget: 1_000)
        return named.map(\.1) + [ranges, bulk].compactMap { $0.map(TransferFrame.acknowledgement) }
    }

    static func packet(_ frames: [TransferFrame], number: UInt64? = 300) -> TransferPacket {
        TransferPacket(lane: .bulk, number: number, frames: frames)
    }

    @Test func theGoldenPacketsAreReadAndWritten() throws {
        for (name, frame) in Self.named {
            let packet = Self.packet([frame])
            #expect(packet.bytes == vector(name), "\(name): \(packet.bytes)")
            #expect(try TransferPacket(parsing: vector(name)) == packet, "\(name)")
        }
        let ranges = try #require(Self.ranges)
        let acknowledgement = TransferPacket(
            lane: .reliable, number: nil, frames: [.acknowledgement(ranges)])
        #expect(acknowledgement.bytes == vector("acknowledgement"), "\(acknowledgement.bytes)")
        #expect(try TransferPacket(parsing: vector("acknowledgement")) == acknowledgement)
    }

    @Test func severalFramesShareAPacket() throws {
        let packet = Self.packet(Self.all)
        #expect(try TransferPacket(parsing: packet.bytes) == packet)
    }

    @Test(arguments: all) func everyTruncationIsRefused(_ frame: TransferFrame) {
        let bytes = Self.packet([frame]).bytes
        for count in 0..<bytes.count {
            #expect((try? TransferPacket(parsing: Array(bytes.prefix(count)))) == nil)
        }
    }

    @Test(arguments: all) func everyOtherBitIsBorne(_ frame: TransferFrame) {
        let bytes = Self.packet([frame]).bytes
        for bit in 0..<8 * bytes.count {
            var other = bytes
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let packet = try? TransferPacket(parsing: other) else { continue }
            #expect((try? TransferPacket(parsing: packet.bytes)) == packet)
        }
    }

    @Test func whatIsTooLongIsRefused() {
        let name = String(repeating: "n", count: 256)
        #expect(throws: WireError.tooLong(limit: 255, actual: 256)) {
            try TransferPacket(
                parsing: Self.packet([.open(number: 1, group: 1, name: name)]).bytes)
        }
        #expect(throws: WireError.invalid(field: "offset")) {
            let data = TransferFrame.data(Self.stream, offset: 1 << 62, [], isLast: false)
            return try TransferPacket(parsing: Self.packet([data]).bytes)
        }
        #expect(throws: WireError.invalid(field: "flags")) {
            try TransferPacket(parsing: [0x30, 4, 0, 1])
        }
        #expect(throws: WireError.unknownType(0x10)) {
            try TransferPacket(parsing: [0x30, 0, 0, 0x10])
        }
    }

    @Test func acknowledgementsKeepToTheirBudget() throws {
        var received = NumberRanges()
        for number in stride(from: UInt64(0), to: 2_000, by: 2) {
            received.insert(number..<number + 1)
        }
        let most = try #require(
            PacketAcknowledgement(
                of: .bulk, rising: received.ranges, delay: .zero, byteBudget: 2_000))
        #expect(most.ranges.count == Limits.packetRangesMax)
        #expect(most.largest == 1_998)
        let few = try #require(
            PacketAcknowledgement(
                of: .bulk, rising: received.ranges, delay: .zero, byteBudget: 50))
        #expect(few.ranges.count == 13)
        var writer = ByteWriter()
        TransferFrame.acknowledgement(few).emit(into: &writer)
        #expect(writer.count <= 50)
        #expect(
            PacketAcknowledgement(of: .bulk, rising: [], delay: .zero, byteBudget: 50) == nil)
    }
}
