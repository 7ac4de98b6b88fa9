import NearbyCore
import NearbyLinux
import NearbyWire
import Testing

@testable import NodeShell

struct DialAddressesTests {
    private let wire = LinkID(value: 2)
    private let radio = LinkID(value: 3)
    private let near: AddressText
    private let far: AddressText

    init() throws {
        near = try AddressText(parsing: "10.0.0.5:4577")
        far = try AddressText(parsing: "172.16.0.9:4577")
    }

    /// Only 10.0.0.0/8 is reached, by wire.
    private func link(to text: AddressText) -> LinkID? {
        text.description.hasPrefix("10.") ? wire : nil
    }

    private func endpoints(_ addresses: DialAddresses) -> [Endpoint] {
        addresses.staticEndpoints(on: [wire, radio], link: link)
    }

    private func peer(_ number: UInt64) -> PeerID { PeerID(high: number, low: number) }

    @Test func whereNoLinkLeadsNobodyDials() {
        var addresses = DialAddresses(configured: [near, far])
        addresses.add(peer(1), at: [far.address], until: .distantFuture)
        #expect(endpoints(addresses) == [Endpoint(link: wire, address: near.address)])
    }

    @Test func aLinkScopedAddressOfATicketIsTriedOnAllLinks() throws {
        let scoped = try AddressText(parsing: "[fe80::1%eth0]:4577").address
        var addresses = DialAddresses(configured: [])
        addresses.add(peer(1), at: [scoped, near.address], until: .distantFuture)
        #expect(
            endpoints(addresses) == [
                Endpoint(link: wire, address: scoped), Endpoint(link: radio, address: scoped),
                Endpoint(link: wire, address: near.address),
            ])
    }

    @Test func ticketsEndAndTheOldestAreForgotten() throws {
        var addresses = DialAddresses(configured: [])
        for number in 0...UInt64(Limits.ticketsInUseMax) {
            addresses.add(
                peer(number), at: [near.address.with(port: UInt16(number + 1))],
                until: .zero + .seconds(Int64(number)))
        }
        #expect(endpoints(addresses).count == Limits.ticketsInUseMax)
        #expect(endpoints(addresses).first?.address == near.address.with(port: 2))
        addresses.expire(.zero + .seconds(Int64(Limits.ticketsInUseMax) - 1))
        #expect(endpoints(addresses).map(\.address) == [near.address.with(port: 17)])
        // Another ticket of the same peer takes its place.
        addresses.add(peer(16), at: [near.address], until: .distantFuture)
        #expect(endpoints(addresses).map(\.address) == [near.address])
    }

    @Test func aRememberedPeerMayHaveRestartedAtAnotherPort() throws {
        var addresses = DialAddresses(configured: [])
        addresses.remembered = [try AddressText(parsing: "10.0.0.5:4600"), far]
        let dialed = addresses.rememberedEndpoints(link: link)
        #expect(
            dialed.map(\.address) == [
                near.address.with(port: 4600), near.address.with(port: BeaconGroups.port),
            ])
        #expect(endpoints(addresses).isEmpty)
    }
}
