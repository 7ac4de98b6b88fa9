import NearbyCore
import NearbyLinux
import Testing

@testable import NodeShell

struct RememberedPeersTests {
    private func entry(_ peer: UInt64, _ address: String) throws -> RememberedPeers.Entry {
        RememberedPeers.Entry(
            peer: PeerID(high: peer, low: peer), address: try AddressText(parsing: address))
    }

    private func peers(_ addresses: [(UInt64, String)]) throws -> RememberedPeers {
        var peers = RememberedPeers()
        for (peer, address) in addresses {
            let isNew = peers.remember(try entry(peer, address))
            #expect(isNew)
        }
        return peers
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let peers = try peers([
            (1, "10.0.0.5:4577"), (2, "[fe80::1%eth0]:4577"), (1, "[fd00::5]:1"),
        ])
        #expect(try RememberedPeers(parsing: peers.bytes).entries == peers.entries)
        #expect(try RememberedPeers(parsing: RememberedPeers().bytes).entries == [])
        let text = String(decoding: peers.bytes, as: UTF8.self)
        #expect(text.hasPrefix("rivulet peers 1\n\(PeerID(high: 1, low: 1)) 10.0.0.5:4577\n"))
        #expect(text.hasSuffix("[fd00::5]:1\n"))
    }

    @Test func theLastAddressesOfThePeersInUseLastStay() throws {
        var peers = try peers([(1, "10.0.0.1:4577"), (2, "10.0.0.2:4577")])
        let again = peers.remember(try entry(1, "10.0.0.1:4577"))
        #expect(!again, "nothing to write")
        #expect(peers.entries.last?.peer == PeerID(high: 1, low: 1))
        // Another port of the same host takes its place; of others a peer has two.
        let moved = peers.remember(try entry(1, "10.0.0.1:4600"))
        #expect(moved)
        #expect(peers.entries.count == 2)
        for address in ["10.0.0.7:1", "10.0.0.8:1"] {
            let isNew = peers.remember(try entry(1, address))
            #expect(isNew)
        }
        #expect(
            peers.entries.map(\.address.description)
                == ["10.0.0.2:4577", "10.0.0.7:1", "10.0.0.8:1"])
        for host in 1...100 {
            _ = peers.remember(try entry(UInt64(host) + 10, "10.0.1.\(host):4577"))
        }
        #expect(peers.entries.count == Limits.rememberedAddressesMax)
        #expect(peers.entries.first?.address.description == "10.0.1.69:4577")
        #expect(peers.bytes.count < Limits.rememberedBytesMax / 2)
        #expect(try RememberedPeers(parsing: peers.bytes).entries == peers.entries)
    }

    @Test func onlyUnicastAddressesAreRemembered() throws {
        var peers = RememberedPeers()
        for address in [
            "239.1.2.3:4", "255.255.255.255:4", "0.0.0.0:4", "[ff12::1%eth0]:4", "[::]:4",
        ] {
            let isNew = peers.remember(try entry(1, address))
            #expect(!isNew, "\(address)")
            let line = "rivulet peers 1\n\(PeerID(high: 1, low: 1)) \(address)\n"
            #expect(throws: RememberedPeers.Fault.line(2)) {
                try RememberedPeers(parsing: Array(line.utf8))
            }
        }
    }

    @Test func aDamagedFileIsRefusedAsAWhole() throws {
        let peers = try peers([(1, "10.0.0.5:4577"), (2, "[fe80::1%eth0]:4577")])
        let whole = peers.bytes
        for count in 0..<whole.count {
            let part = Array(whole.prefix(count))
            guard let cut = try? RememberedPeers(parsing: part) else { continue }
            // Cut off after a line's end.
            #expect(peers.entries.starts(with: cut.entries))
            #expect(cut.entries.count < peers.entries.count)
        }
        for index in whole.indices {
            for bit in 0..<8 {
                var bytes = whole
                bytes[index] ^= 1 << bit
                guard let read = try? RememberedPeers(parsing: bytes) else { continue }
                #expect(read.entries.count == 2)
                #expect(try RememberedPeers(parsing: read.bytes).entries == read.entries)
            }
        }
        let many = [UInt8]("rivulet peers 1\n".utf8) + [UInt8](repeating: 10, count: 8_000)
        #expect(throws: RememberedPeers.Fault.tooMany) { try RememberedPeers(parsing: many) }
        #expect(throws: RememberedPeers.Fault.foreign) { try RememberedPeers(parsing: []) }
        #expect(throws: RememberedPeers.Fault.foreign) {
            try RememberedPeers(parsing: Array("rivulet peers 2\n".utf8))
        }
    }
}
