import CAvahi
import Glibc
import NearbyCore

/// Texts as the library has them.
enum AvahiText {
    static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
    }

    static func zeroTerminated(_ bytes: [UInt8]) -> [CChar] {
        bytes.map { CChar(bitPattern: $0) } + [0]
    }
}

extension ServiceKey {
    /// Nil for a protocol that is neither, or where something is missing.
    init?(
        _ link: Int32, _ family: AvahiProtocol, _ name: UnsafePointer<CChar>?,
        _ domain: UnsafePointer<CChar>?
    ) {
        guard let name, let domain, let number = UInt32(exactly: link) else { return nil }
        guard let family = Family(number: family) else { return nil }
        self.init(
            link: LinkID(value: number), family: family, name: AvahiText.bytes(name),
            domain: AvahiText.bytes(domain))
    }
}

extension ServiceKey.Family {
    /// The library's number of the protocol.
    var number: Int32 { Int32(self == .ipv4 ? AVAHI_PROTO_INET : AVAHI_PROTO_INET6) }

    init?(number: Int32) {
        switch Int(number) {
        case Int(AVAHI_PROTO_INET): self = .ipv4
        case Int(AVAHI_PROTO_INET6): self = .ipv6
        default: return nil
        }
    }
}

extension TransportAddress {
    /// Port 0.
    init?(_ address: UnsafePointer<AvahiAddress>?) {
        guard let address, let start = cavahi_address_bytes(address),
            let family = ServiceKey.Family(number: address.pointee.proto)
        else { return nil }
        let count = family == .ipv4 ? 4 : 16
        var reader = ByteReader(Array(UnsafeBufferPointer(start: start, count: count))[...])
        switch family {
        case .ipv4:
            guard let host = try? reader.readUInt32() else { return nil }
            self = .ipv4(address: host, port: 0)
        case .ipv6:
            guard let high = try? reader.readUInt64(), let low = try? reader.readUInt64() else {
                return nil
            }
            self = .ipv6(high: high, low: low, port: 0)
        }
    }
}
