import CLinux
import Glibc
import NearbyCore

extension Limits {
    /// Interfaces that we keep in view; further ones are not seen.
    static let interfacesMax = 256
    /// Addresses that we keep of one interface.
    static let interfaceAddressesMax = 32
}

/// The kernel's interfaces, from rtnetlink messages (rtnetlink(7)). Pure: bytes in.
struct InterfaceTable {
    private struct Entry {
        var interface: Interface
        var flags: UInt32
        var kind: String
        var hardware: UInt16
    }

    private var entries: [LinkID: Entry] = [:]
    private let linkClass: (String) -> LinkClass

    init(linkClass: @escaping (String) -> LinkClass) { self.linkClass = linkClass }

    /// All of them by index.
    var interfaces: [Interface] {
        entries.values.map(\.interface).sorted { $0.link < $1.link }
    }

    mutating func apply(_ message: NetlinkMessage) {
        switch Int(message.type) {
        case RTM_NEWLINK: setLink(message.body)
        case RTM_DELLINK: removeLink(message.body)
        case RTM_NEWADDR: setAddress(message.body)
        case RTM_DELADDR: setAddress(message.body, isRemoval: true)
        default: break
        }
    }

    // struct ifinfomsg: family 1, padding 1, type 2, index 4, flags 4, change 4.

    private mutating func setLink(_ body: NativeBytes) {
        guard body.uint8(0) == UInt8(AF_UNSPEC), let hardware = body.uint16(2),
            let index = body.uint32(4),
            let flags = body.uint32(8), index > 0
        else { return }
        let link = LinkID(value: index)
        guard entries[link] != nil || entries.count < Limits.interfacesMax else { return }
        let unknown = Interface(
            link: link, name: "", linkClass: .ethernet, mtu: 0, isRunning: false, isLoopback: false,
            hasBroadcast: false, isEnslaved: false, isTunnel: false, addresses: [])
        var entry =
            entries[link] ?? Entry(interface: unknown, flags: 0, kind: "", hardware: hardware)
        entry.flags = flags
        entry.hardware = hardware
        var isEnslaved = false
        for attribute in body.attributes(from: 16) {
            switch Int(attribute.type) {
            case Int(IFLA_IFNAME): entry.interface.name = attribute.body.string()
            case Int(IFLA_MTU): entry.interface.mtu = attribute.body.uint32(0) ?? 0
            case Int(IFLA_MASTER): isEnslaved = attribute.body.uint32(0) ?? 0 != 0
            case Int(IFLA_LINKINFO):
                let kind = attribute.body.attributes(from: 0).first {
                    Int($0.type) == Int(IFLA_INFO_KIND)
                }
                entry.kind = kind?.body.string() ?? ""
            default: break
            }
        }
        entry.interface.isEnslaved = isEnslaved
        entry.interface.linkClass = linkClass(entry.interface.name)
        derive(&entry)
        entries[link] = entry
    }

    private mutating func removeLink(_ body: NativeBytes) {
        // With the family AF_BRIDGE it only says that the interface left a bridge.
        guard body.uint8(0) == UInt8(AF_UNSPEC), let index = body.uint32(4) else { return }
        entries[LinkID(value: index)] = nil
    }

    // struct ifaddrmsg: family 1, prefix length 1, flags 1, scope 1, index 4.

    private mutating func setAddress(_ body: NativeBytes, isRemoval: Bool = false) {
        guard let family = body.uint8(0), var flags = body.uint8(2).map(UInt32.init),
            let index = body.uint32(4), var entry = entries[LinkID(value: index)]
        else { return }
        var attributes: [Int: NativeBytes] = [:]
        for attribute in body.attributes(from: 8) {
            attributes[Int(attribute.type)] = attribute.body
        }
        flags = attributes[Int(IFA_FLAGS)]?.uint32(0) ?? flags
        // On a point-to-point link IFA_ADDRESS is the other end.
        let bytes = attributes[Int(IFA_LOCAL)] ?? attributes[Int(IFA_ADDRESS)]
        guard let address = bytes?.address(family: family) else { return }
        let isUnusable = flags & UInt32(IFA_F_TENTATIVE | IFA_F_DADFAILED) != 0
        entry.interface.addresses.removeAll { $0 == address }
        if !isRemoval, !isUnusable, entry.interface.addresses.count < Limits.interfaceAddressesMax {
            entry.interface.addresses.append(address)
            entry.interface.addresses.sort()
        }
        derive(&entry)
        entries[LinkID(value: index)] = entry
    }

    private static let tunnelKinds: Set<String> = [
        "tun", "wireguard", "gre", "gretap", "ip6gre", "ip6tnl", "ipip", "sit", "vti", "vti6",
        "xfrm",
        "vxlan", "geneve", "dummy", "ifb", "nlmon", "vcan", "can",
    ]

    private func derive(_ entry: inout Entry) {
        let up = UInt32(IFF_UP | IFF_RUNNING)
        let hasIPv4 = entry.interface.addresses.contains {
            if case .ipv4 = $0 { true } else { false }
        }
        entry.interface.isRunning = entry.flags & up == up
        entry.interface.isLoopback = entry.flags & UInt32(IFF_LOOPBACK) != 0
        entry.interface.hasBroadcast = hasIPv4 && entry.flags & UInt32(IFF_BROADCAST) != 0
        entry.interface.isTunnel =
            Self.tunnelKinds.contains(entry.kind) || entry.hardware == Self.hardwareNone
            || entry.flags & UInt32(IFF_POINTOPOINT) != 0
    }

    /// ARPHRD_NONE of <linux/if_arp.h>: no link layer, as tun and WireGuard have none.
    private static let hardwareNone: UInt16 = 0xfffe
}
