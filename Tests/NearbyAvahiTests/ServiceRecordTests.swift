import NearbyCore
import NearbyWire
import Testing
import VectorFile

@testable import NearbyAvahi

@Suite struct ServiceRecordTests {
    static let peer = PeerID(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f)

    static func record(_ info: [(key: String, value: String)] = [("rack", "3")]) throws
        -> ServiceRecord
    {
        ServiceRecord(peer: peer, role: .collector, port: 4_577, info: try DiscoveryInfo(info))
    }

    /// The record of these pairs.
    static func bytes(_ pairs: [String]) -> [UInt8] {
        pairs.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8) }
    }

    static let good = ["txtvers=1", "peer=\(peer)", "port=4577", "role=collector"]

    @Test func theGoldenRecordIsWrittenAndRead() throws {
        let golden = vector("service-record")
        let record = try Self.record()
        #expect(record.bytes == golden)
        #expect(try ServiceRecord(parsing: golden[...]) == record)
    }

    @Test func noTruncationAndNoFlippedBitTraps() throws {
        let golden = vector("service-record")
        let whole = try ServiceRecord(parsing: golden[...])
        for length in 0..<golden.count {
            let cut = try? ServiceRecord(parsing: golden[..<length])
            #expect(cut != whole, "\(length) bytes")
        }
        for bit in 0..<golden.count * 8 {
            var flipped = golden
            flipped[bit / 8] ^= 1 << (bit % 8)
            if let other = try? ServiceRecord(parsing: flipped[...]) { _ = other.bytes }
        }
    }

    @Test func noRandomBytesTrap() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let count = Int(generator.next() % 300)
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            if let record = try? ServiceRecord(parsing: bytes[...]) { _ = record.bytes }
        }
    }

    @Test(arguments: [
        ("txtvers", 0, "txtvers=2"), ("txtvers", 0, "txtvers"), ("peer", 1, "peer="),
        ("peer", 1, "peer=aaaaa"), ("port", 2, "port=0"), ("port", 2, "port=65536"),
        ("port", 2, "port=-1"), ("port", 2, "p=4577"),
    ])
    func whatMustBeThereIsAsked(field: String, place: Int, pair: String) {
        var pairs = Self.good
        pairs[place] = pair
        let bytes = Self.bytes(pairs)
        #expect(throws: WireError.invalid(field: field)) {
            try ServiceRecord(parsing: bytes[...])
        }
    }

    @Test func keysHaveNoCaseAndTheFirstCounts() throws {
        let pairs = ["TxtVers=1", "PEER=\(Self.peer)", "Port=4577", "port=1", "txtvers=9"]
        let bytes = Self.bytes(pairs)
        let record = try ServiceRecord(parsing: bytes[...])
        #expect(record.port == 4_577)
        #expect(record.info.isEmpty)
    }

    @Test func rolesToComeAndPairsThatAreNoInfoAreNoFault() throws {
        let bytes = Self.bytes(
            Self.good.dropLast() + ["role=oracle", "flag", "=x", "a\n=1", "b=2"])
        let record = try ServiceRecord(parsing: bytes[...])
        #expect(record.role == nil)
        #expect(record.info.pairs.map(\.key) == ["b"])
    }

    @Test func tooMuchInfoIsNoneAndTooMuchInAllIsRefused() throws {
        let value = String(repeating: "x", count: 200)
        let much = Self.bytes(Self.good + ["a=\(value)", "b=\(value)"])
        #expect(try ServiceRecord(parsing: much[...]).info.isEmpty)
        let more = Self.bytes(Self.good + (0..<7).map { "k\($0)=\(value)" })
        #expect(throws: WireError.tooLong(limit: 1_300, actual: more.count)) {
            try ServiceRecord(parsing: more[...])
        }
    }

    @Test func infoDoesNotReplaceWhatTheRecordSays() throws {
        let record = try Self.record([("Port", "1"), ("peer", "me"), ("site", "north")])
        let read = try ServiceRecord(parsing: record.bytes[...])
        #expect(read.port == 4_577)
        #expect(read.peer == Self.peer)
        #expect(read.info.pairs.map(\.key) == ["site"])
    }
}

@Suite struct ServiceNameTests {
    @Test func aNameThatIsTakenGetsDigitsOfThePeerIDAndThenNumbers() {
        var name = ServiceName("pi", peer: ServiceRecordTests.peer)
        #expect(name.text == "pi")
        name.collide()
        #expect(name.text == "pi aaaqe")
        name.collide()
        #expect(name.text == "pi aaaqe 3")
    }

    @Test func noNameIsOver63BytesOrCutWithinACharacter() {
        let long = String(repeating: "ü", count: 31)
        var name = ServiceName(long + "x", peer: ServiceRecordTests.peer)
        #expect(name.text == long + "x")
        name.collide()
        #expect(name.text == String(repeating: "ü", count: 28) + " aaaqe")
        let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}"
        let joined = ServiceName(String(repeating: family, count: 9), peer: ServiceRecordTests.peer)
        #expect(joined.text == String(repeating: family, count: 3))
    }

    @Test func aNameOfNothingGetsOne() {
        #expect(ServiceName("", peer: ServiceRecordTests.peer).text == "rivulet")
    }
}
