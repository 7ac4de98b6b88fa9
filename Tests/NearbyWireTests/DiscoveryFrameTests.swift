import Glibc
import NearbyCore
import NearbyWire
import Testing

@Suite struct DiscoveryFrameTests {
    static let info = try? DiscoveryInfo([("site", "nørth"), ("name", "bench")])

    static func frame(_ body: DiscoveryFrame.Body, proof: UInt64? = 0xf0f1_f2f3_f4f5_f6f7)
        -> DiscoveryFrame
    {
        DiscoveryFrame(
            versions: 1...1, network: NetworkTag(value: 0x1122_3344_5566_7788),
            peer: PeerID(high: 0xa0a1_a2a3_a4a5_a6a7, low: 0xa8a9_aaab_acad_aeaf),
            run: RunID(value: 0x0102_0304_0506_0708), body: body, proof: proof)
    }

    static let collector = Beacon(
        dataPort: 4563, role: .collector, flags: [.hasRoute, .offersEncryption], costToCollector: 0,
        infoDigest: info?.digest ?? 1)

    static let vectors: [(name: String, frame: DiscoveryFrame?)] = [
        ("beacon", frame(.beacon(collector))),
        // Holds an extension, which this version can read but not write.
        ("answer", nil),
        ("nudge", frame(.nudge(attempt: 3))),
        ("info-request", frame(.infoRequest(digest: info?.digest ?? 1))),
        ("info-reply", frame(.infoReply(info ?? .empty))),
    ]

    @Test(arguments: vectors.map(\.name)) func goldenVectorReadsAndWritesAlike(name: String) throws
    {
        let bytes = try hexVector(name)
        let parsed = try DiscoveryFrame(parsing: bytes[...])
        #expect(parsed.bytes == bytes)
        #expect(parsed.byteCount == bytes.count)
        if let expected = Self.vectors.first(where: { $0.name == name })?.frame {
            #expect(parsed == expected)
        }
    }

    @Test func beaconWithProofTakesSixtyBytesAndNoBeaconMoreThanTwoHundred() {
        #expect(Self.frame(.beacon(Self.collector)).bytes.count == 60)
        #expect(DiscoveryFrame.beaconBytesMax == 200)
    }

    @Test func unknownExtensionIsKept() throws {
        let parsed = try DiscoveryFrame(parsing: try hexVector("answer")[...])
        guard case .answer(let beacon) = parsed.body else { throw UnexpectedFrame() }
        #expect(beacon.extensions == [0x07, 0x02, 0xbe, 0xef])
        #expect(beacon.costToCollector == nil)
        #expect(beacon.role == .agent)
    }

    @Test(arguments: vectors.map(\.name)) func everyTruncationThrows(name: String) throws {
        let bytes = try hexVector(name)
        for count in bytes.indices {
            #expect(throws: WireError.self) { try DiscoveryFrame(parsing: bytes[..<count]) }
        }
        #expect(throws: WireError.self) { try DiscoveryFrame(parsing: bytes[...] + [0]) }
    }

    /// A flipped bit is refused, or read as another frame, or lies in marks and padding that mean
    /// nothing.
    @Test(arguments: vectors.map(\.name)) func noFlippedBitTraps(name: String) throws {
        let bytes = try hexVector(name)
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let frame = try? DiscoveryFrame(parsing: flipped[...]) else { continue }
            #expect(try DiscoveryFrame(parsing: frame.bytes[...]) == frame)
        }
    }

    @Test(arguments: vectors.map(\.name)) func proofCoversEveryByteBeforeIt(name: String) throws {
        let bytes = try hexVector(name)
        let frame = try DiscoveryFrame(parsing: bytes[...])
        guard frame.proof != nil else {
            #expect(DiscoveryFrame.signedPart(of: bytes[...]) == nil)
            return
        }
        #expect(DiscoveryFrame.signedPart(of: bytes[...]) == bytes.dropLast(8))
        #expect(frame.signedBytes == Array(bytes.dropLast(8)))
    }

    @Test func signedBytesDoNotDependOnTheProofAndMarkThatOneFollows() {
        let without = Self.frame(.nudge(attempt: 3), proof: nil)
        #expect(without.signedBytes == Self.frame(.nudge(attempt: 3)).signedBytes)
        #expect(without.signedBytes != without.bytes)
    }

    @Test func noReplyIsLongerThanItsRequest() throws {
        let pairs = (0..<4).map { ("\($0)", String(repeating: "x", count: 97)) }
        let largest = try DiscoveryInfo(pairs)
        #expect(largest.bytes.count == DiscoveryInfo.bytesMax)
        for proof in [nil, 1] as [UInt64?] {
            let request = Self.frame(.infoRequest(digest: 1), proof: proof)
            #expect(Self.frame(.infoReply(largest), proof: proof).byteCount <= request.byteCount)
        }
    }

    @Test func otherFirstBytesAreUnknownTypes() throws {
        var bytes = try hexVector("nudge")
        for kind in [0x50, 0x5f, 0x65, 0x80] as [UInt8] {
            bytes[0] = kind
            #expect(throws: WireError.unknownType(kind)) { try DiscoveryFrame(parsing: bytes[...]) }
        }
    }

    @Test func randomBytesNeverTrap() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0..<120, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            if count > 3 {
                bytes.replaceSubrange(0..<4, with: [0x60 + bytes[0] % 5, bytes[1], 1, 1])
            }
            _ = try? DiscoveryFrame(parsing: bytes[...])
        }
    }
}

struct UnexpectedFrame: Error {}

/// The bytes of `Vectors/<name>.hex`: hex digits up to "#" on each line, spaces ignored.
private func hexVector(_ name: String) throws -> [UInt8] {
    let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    let path = "/\(folder)/Vectors/\(name).hex"
    let file = try #require(fopen(path, "r"), "\(path) is missing")
    defer { fclose(file) }
    var text: [UInt8] = []
    var byte = fgetc(file)
    while byte >= 0 {
        text.append(UInt8(truncatingIfNeeded: byte))
        byte = fgetc(file)
    }
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    let digits = lines.flatMap { line in
        line.prefix { $0 != "#" }.compactMap(\.hexDigitValue)
    }
    return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
}
