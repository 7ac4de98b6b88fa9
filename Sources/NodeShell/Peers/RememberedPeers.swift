import NearbyCore
import NearbyLinux

extension Limits {
    /// Addresses of peers that outlast a run; the one that was in use longest ago makes room.
    static let rememberedAddressesMax = 32
    /// Of them, addresses of one peer.
    static let rememberedAddressesPerPeer = 2
    /// A file of remembered peers, bytes; ours are below 4,000.
    static let rememberedBytesMax = 8_192
}

/// Where peers were reached that were admitted: what the next run tries where multicast brings
/// nothing.
///
///     rivulet peers 1
///     mzxw6-ytboi-… 10.0.0.5:4577
///     mzxw6-ytboi-… [fe80::1%eth0]:4577
///
/// The last line is the address that came into use last.
struct RememberedPeers: Sendable {
    struct Entry: Equatable, Sendable {
        var peer: PeerID
        /// Unicast, with its port.
        var address: AddressText
    }

    /// Why a file is not taken up.
    enum Fault: Error, Equatable, CustomStringConvertible {
        case foreign
        case tooMany
        /// From 1.
        case line(Int)

        var description: String {
            switch self {
            case .foreign: "it does not begin with \"\(header)\""
            case .tooMany: "it has more than \(Limits.rememberedAddressesMax) addresses"
            case .line(let number): "line \(number) is no peer with an address"
            }
        }
    }

    private(set) var entries: [Entry] = []
    private static let header = "rivulet peers 1"

    init() {}

    /// Reads what `bytes` writes; a file with anything else in it is refused as a whole.
    init(parsing bytes: [UInt8]) throws(Fault) {
        let lines = bytes.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.first?.elementsEqual(Self.header.utf8) == true, lines.last?.isEmpty == true
        else { throw .foreign }
        guard lines.count - 2 <= Limits.rememberedAddressesMax else { throw .tooMany }
        for (index, line) in lines.enumerated().dropFirst().dropLast() {
            guard let entry = Self.entry(line) else { throw .line(index + 1) }
            entries.append(entry)
        }
    }

    var bytes: [UInt8] {
        let lines = entries.map { "\($0.peer) \($0.address)" }
        return Array(([Self.header] + lines).joined(separator: "\n").utf8) + [UInt8(ascii: "\n")]
    }

    /// A peer was admitted there. True if that is new, so that it should be written down. A new
    /// port of a host takes the place of the old one.
    mutating func remember(_ entry: Entry) -> Bool {
        guard Self.isUsable(entry.address) else { return false }
        var ofPeer = 0
        var isKnown = false
        // From the newest to the oldest.
        for index in entries.indices.reversed() where entries[index].peer == entry.peer {
            let isSameHost = entries[index].address.host == entry.address.host
            if entries[index].address == entry.address { isKnown = true }
            ofPeer += isSameHost ? 0 : 1
            if isSameHost || ofPeer >= Limits.rememberedAddressesPerPeer {
                entries.remove(at: index)
            }
        }
        if entries.count >= Limits.rememberedAddressesMax { entries.removeFirst() }
        entries.append(entry)
        return !isKnown
    }

    private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
        guard line.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 2, let peer = PeerID(text: words[0]),
            let address = try? AddressText(parsing: words[1]), isUsable(address)
        else { return nil }
        return Entry(peer: peer, address: address)
    }

    private static func isUsable(_ address: AddressText) -> Bool {
        switch address.address {
        case .ipv4(let host, _): host != 0 && !address.address.isMulticast
        case .ipv6(let high, let low, _):
            (high != 0 || low != 0) && !address.address.isMulticast
        case .bluetooth, .simulated: false
        }
    }
}
