import NearbyCore
import NearbyWire

@testable import NearbyAvahi

/// Services as they could come from outside.
enum Sample {
    static let own = PeerID(high: 1, low: 1)
    static let link = LinkID(value: 2)
    static let otherLink = LinkID(value: 3)

    static func peer(_ number: Int) -> PeerID { PeerID(high: UInt64(number) + 100, low: 0) }

    static func key(
        _ number: Int, _ family: ServiceKey.Family = .ipv4, on link: LinkID = link
    ) -> ServiceKey {
        let digits = String(number)
        let name = "s" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return ServiceKey(
            link: link, family: family, name: Array(name.utf8), domain: Array("local".utf8))
    }

    static func answer(
        _ number: Int, role: Role? = .agent, peer: PeerID? = nil, port: UInt16 = 4_577,
        address: TransportAddress? = nil
    ) -> ServiceAnswer {
        let record = ServiceRecord(
            peer: peer ?? self.peer(number), role: role, port: 4_577, info: .empty)
        return ServiceAnswer(
            address: address ?? .ipv4(address: 0x0a00_0000 + UInt32(number), port: 0), port: port,
            text: record.bytes)
    }

    static func endpoint(_ number: Int, on link: LinkID = link) -> Endpoint {
        Endpoint(
            link: link, address: .ipv4(address: 0x0a00_0000 + UInt32(number), port: 4_577))
    }
}
