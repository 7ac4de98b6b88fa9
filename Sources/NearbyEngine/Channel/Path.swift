import NearbyCore
import NearbyWire

/// The path that frames of a channel take.
enum Path: Hashable, Comparable {
    case link(Endpoint)
    /// Inside mesh packets to this node.
    case mesh(ShortID)

    /// A stable byte form for cookies.
    var bytes: [UInt8] {
        switch self {
        case .link(let endpoint): [1] + endpoint.address.bytes
        case .mesh(let node): [2] + PeerID(high: node.value, low: 0).bytes.prefix(8)
        }
    }

    var endpoint: Endpoint? { if case .link(let endpoint) = self { endpoint } else { nil } }

    var node: ShortID? { if case .mesh(let node) = self { node } else { nil } }
}

/// How a datagram came here, and what its seal said once it was opened.
struct Arrival {
    var path: Path
    /// Links that it crossed, at least 1.
    var hops = 1
    /// The neighbour that handed us the packet around it.
    var firstHop: PeerID?
    var priority = Priority.control
    /// Among the frames of its priority on its channel.
    var counter: UInt64 = 0
}
