import NearbyCore
import NearbyWire
import Testing

@Suite struct DiscoveryInfoTests {
    @Test func orderOfPairsDoesNotMatter() throws {
        let one = try DiscoveryInfo([("b", "2"), ("a", "1")])
        let other = try DiscoveryInfo([("a", "1"), ("b", "2")])
        #expect(one == other)
        #expect(one.digest == other.digest)
        #expect(one.pairs.map(\.key) == ["a", "b"])
        #expect(one["b"] == "2")
        #expect(one["c"] == nil)
    }

    @Test func digestIsFNV1a() throws {
        // FNV-1a of 03 "a=1".
        #expect(try DiscoveryInfo([("a", "1")]).digest == 0x3510_3089_cfae_5d17)
        #expect(DiscoveryInfo.empty.digest == 0)
    }

    @Test func valuesMayHoldEqualSignsAndBeEmpty() throws {
        let info = try DiscoveryInfo([("a", "x=y"), ("b", "")])
        #expect(try DiscoveryInfo(parsing: info.bytes[...]) == info)
        #expect(info["a"] == "x=y")
        #expect(info["b"] == "")
    }

    @Test(arguments: ["", "a=b", "ä", "a\n"]) func illegalKeysAreRefused(key: String) {
        #expect(throws: WireError.invalid(field: "info-key")) { try DiscoveryInfo([(key, "1")]) }
    }

    @Test func doubledKeysAreRefused() {
        #expect(throws: WireError.invalid(field: "info-key")) {
            try DiscoveryInfo([("a", "1"), ("a", "2")])
        }
    }

    @Test func pairsHold255BytesAndTheWhole400() throws {
        let value = String(repeating: "x", count: 253)
        #expect(try DiscoveryInfo([("a", value)]).bytes.count == 256)
        #expect(throws: WireError.tooLong(limit: 255, actual: 256)) {
            try DiscoveryInfo([("a", value + "x")])
        }
        let rest = String(repeating: "x", count: 141)
        #expect(try DiscoveryInfo([("a", value), ("b", rest)]).bytes.count == 400)
        #expect(throws: WireError.tooLong(limit: 400, actual: 401)) {
            try DiscoveryInfo([("a", value), ("b", rest + "x")])
        }
    }

    @Test func onlyTheCanonicalFormIsRead() {
        let wrong: [(String, [UInt8])] = [
            ("unsorted", [3] + Array("b=1".utf8) + [3] + Array("a=1".utf8)),
            ("doubled", [3] + Array("a=1".utf8) + [3] + Array("a=2".utf8)),
            ("no sign", [2] + Array("ab".utf8)),
            ("empty pair", [0]),
            ("no key", [2] + Array("=1".utf8)),
            ("not UTF-8", [3] + Array("a=".utf8) + [0xff]),
            ("truncated", [4] + Array("a=1".utf8)),
        ]
        for (name, bytes) in wrong {
            #expect(throws: WireError.self, "\(name)") { try DiscoveryInfo(parsing: bytes[...]) }
        }
    }
}

@Suite struct ServiceTypeTests {
    @Test(arguments: ["rivulet", "a", "a-1", "1-a", "abcdefghijklmno"])
    func legalNamesAreTaken(name: String) {
        #expect(ServiceType(name)?.name == name)
    }

    @Test(arguments: ["", "-a", "a-", "a--b", "12-3", "A", "a_b", "ä", "abcdefghijklmnop", "a b"])
    func illegalNamesAreRefused(name: String) {
        #expect(ServiceType(name) == nil)
    }

    @Test func networkTagDependsOnNameAndService() throws {
        let one = try #require(ServiceType("one"))
        let two = try #require(ServiceType("two"))
        #expect(NetworkTag(name: "n", service: one) == NetworkTag(name: "n", service: one))
        #expect(NetworkTag(name: "n", service: one) != NetworkTag(name: "n", service: two))
        #expect(NetworkTag(name: "n", service: one) != NetworkTag(name: "m", service: one))
    }
}
