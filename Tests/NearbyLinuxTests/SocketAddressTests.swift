import NearbyCore
import NearbyLinux
import Testing

@testable import NearbyLinux

@Suite struct SocketAddressTests {
    @Test(arguments: [
        TransportAddress.ipv4(address: 0x7f00_0001, port: 0x1234),
        .ipv6(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10, port: 0x1234),
    ])
    func theKernelsFormRoundTrips(address: TransportAddress) throws {
        let form = try #require(SocketAddress(address, scope: 3))
        let back = withUnsafeBytes(of: form.storage) {
            SocketAddress.transportAddress(
                UnsafeRawBufferPointer(rebasing: $0.prefix(Int(form.length))))
        }
        #expect(back == address)
    }

    @Test func portAndAddressAreInNetworkOrder() throws {
        let address = TransportAddress.ipv4(address: 0x0a0b_0c0d, port: 0x1234)
        let form = try #require(SocketAddress(address, scope: 0))
        let bytes = withUnsafeBytes(of: form.storage) { Array($0.prefix(8)) }
        #expect(bytes == [2, 0, 0x12, 0x34, 10, 11, 12, 13])
    }

    @Test func onlyLinkScopedAddressesCarryTheScope() throws {
        for (high, scope): (UInt64, UInt32) in [
            (0xfe80 << 48, 5), (0xfd00 << 48, 0), (0xff12 << 48, 5),
        ] {
            let form = try #require(SocketAddress(.ipv6(high: high, low: 1, port: 1), scope: 5))
            #expect(withUnsafeBytes(of: form.storage) { SocketAddress.scope($0) } == scope)
        }
    }

    @Test func everyTruncationIsRefused() throws {
        let form = try #require(SocketAddress(.ipv6(high: 1, low: 2, port: 3), scope: 0))
        withUnsafeBytes(of: form.storage) { bytes in
            for count in 0..<Int(form.length) {
                let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
                #expect(SocketAddress.transportAddress(part) == nil)
            }
        }
    }

    @Test func aSimulatedAddressHasNoSocketForm() {
        #expect(SocketAddress(.simulated(1), scope: 0) == nil)
    }

    @Test func unixPathsAreBounded() {
        #expect(UnixAddress(text: String(repeating: "x", count: 107)) != nil)
        #expect(UnixAddress(text: String(repeating: "x", count: 108)) == nil)
        #expect(UnixAddress(text: "@" + String(repeating: "x", count: 107)) != nil)
        #expect(UnixAddress(text: "@" + String(repeating: "x", count: 108)) == nil)
        #expect(UnixAddress(text: "") == nil)
        #expect(UnixAddress(text: "a\0b") == nil)
    }
}
