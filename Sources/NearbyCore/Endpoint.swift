/// One of our own links: a network interface, or a radio. Numbered by the shell; the kernel's
/// interface index for IP links.
public struct LinkID: Hashable, Comparable, Sendable {
    public let value: UInt32

    public init(value: UInt32) { self.value = value }

    public static func < (left: LinkID, right: LinkID) -> Bool { left.value < right.value }
}

/// What a link is made of: the factor in its cost, in the order Ethernet < Wi-Fi < Bluetooth.
public enum LinkClass: UInt8, Sendable, CaseIterable {
    case ethernet = 0
    case wifi = 1
    case bluetooth = 2
}

/// How a Bluetooth address is to be read; the raw values are the kernel's address types.
public enum BluetoothAddressKind: UInt8, Sendable, CaseIterable {
    /// BR/EDR.
    case classic = 0
    case lowEnergyPublic = 1
    case lowEnergyRandom = 2
}

/// Where on a link a datagram came from or goes to.
public enum TransportAddress: Hashable, Comparable, Sendable {
    /// Address and port, both in host order.
    case ipv4(address: UInt32, port: UInt16)
    /// Address as two big-endian words. A link-local address is scoped by the endpoint's link.
    case ipv6(high: UInt64, low: UInt64, port: UInt16)
    /// A controller: its address, of which the lower 48 bits count, most significant byte first.
    case bluetooth(address: UInt64, kind: BluetoothAddressKind)
    /// A node of the simulator.
    case simulated(UInt64)

    /// A stable byte form: order, cookies.
    public var bytes: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .ipv4(let address, let port):
            writer.write(UInt8(4))
            writer.write(address)
            writer.write(port)
        case .ipv6(let high, let low, let port):
            writer.write(UInt8(6))
            writer.write(high)
            writer.write(low)
            writer.write(port)
        case .bluetooth(let address, let kind):
            writer.write(UInt8(8 + kind.rawValue))
            writer.write(address)
        case .simulated(let number):
            writer.write(UInt8(0))
            writer.write(number)
        }
        return writer.bytes
    }

    private var key: (UInt8, UInt64, UInt64, UInt16) {
        switch self {
        case .simulated(let number): (0, 0, number, 0)
        case .ipv4(let address, let port): (4, 0, UInt64(address), port)
        case .ipv6(let high, let low, let port): (6, high, low, port)
        case .bluetooth(let address, let kind): (8 + kind.rawValue, 0, address, 0)
        }
    }

    public static func < (left: TransportAddress, right: TransportAddress) -> Bool {
        left.key < right.key
    }
}

/// An address on one of our links.
public struct Endpoint: Hashable, Comparable, Sendable {
    public var link: LinkID
    public var address: TransportAddress

    public init(link: LinkID, address: TransportAddress) {
        self.link = link
        self.address = address
    }

    public static func < (left: Endpoint, right: Endpoint) -> Bool {
        left.link != right.link ? left.link < right.link : left.address < right.address
    }
}
