import NearbyCore
import NearbyDTLS
import NearbyWire

/// Whether traffic must, may or must not be encrypted. None and required refuse each other; none
/// with none or optional is plain; all else is encrypted.
public typealias EncryptionPreference = NearbyWire.EncryptionPreference

/// Which programs find each other.
public struct Service: Hashable, Sendable {
    private enum Kind: Hashable, Sendable {
        case open
        /// The network's secrets, 16 bytes each.
        case network([[UInt8]])
        /// For peers that exchanged connection data: nobody is found.
        case direct
    }

    /// `chat` is `_chat._udp` in DNS-SD.
    public let type: String
    private let kind: Kind

    /// Everybody who names the same type: 1–15 characters a–z, 0–9 and hyphen, at least one letter,
    /// no hyphen first, last or doubled. Capitals are folded.
    ///
    /// - Throws: `.invalidParameter` for another type.
    public init(_ type: String) throws(NearbyError) {
        self.init(type: try Self.folded(type), kind: .open)
    }

    /// Only who has one of the network's secrets as well. The first is used, all are accepted;
    /// agents and collectors of Rivulet with them are of the same network.
    ///
    /// - Throws: `.invalidParameter` for a name that is no service type, or a secret that has not
    ///   16 bytes.
    public init(network: String, secrets: [[UInt8]]) throws(NearbyError) {
        guard !secrets.isEmpty, secrets.allSatisfy({ $0.count == 16 }) else {
            throw NearbyError(
                .invalidParameter, "a network's secret has 16 bytes, as `rivulet secret` makes it")
        }
        self.init(type: try Self.folded(network), kind: .network(secrets))
    }

    private init(type: String, kind: Kind) {
        self.type = type
        self.kind = kind
    }

    static let direct = Service(type: "", kind: .direct)

    /// Whether beacons and DNS-SD tell of those who use it.
    var isDiscoverable: Bool { kind != .direct }

    var secrets: [[UInt8]] { if case .network(let secrets) = kind { secrets } else { [] } }

    /// Tells its frames from those of others; a network's is that of its agents.
    func tag(_ cryptography: OpenSSLCryptography) -> NetworkTag {
        let purpose =
            switch kind {
            case .open: "nearby service "
            case .network: "rivulet network "
            case .direct: "nearby connection data"
            }
        let digest = cryptography.sha256(Array(purpose.utf8) + Array(type.utf8))
        return NetworkTag(value: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    private static func folded(_ type: String) throws(NearbyError) -> String {
        let folded = type.lowercased()
        guard ServiceType(folded) != nil else {
            throw NearbyError(
                .invalidParameter,
                "the service type \"\(type)\" is not 1 to 15 characters a-z, 0-9 and hyphen, with "
                    + "a letter and no hyphen first, last or doubled")
        }
        return folded
    }
}

/// What an advertiser tells before anybody connects.
extension DiscoveryInfo {
    /// - Throws: `.invalidParameter`, with what is too long.
    init(_ pairs: [String: String]) throws(NearbyError) {
        do throws(WireError) {
            try self.init(pairs.map { (key: $0.key, value: $0.value) })
        } catch {
            throw NearbyError(
                .invalidParameter,
                "discovery info: \(error); keys are printable ASCII without \"=\", a pair has at "
                    + "most 255 bytes, all together 400")
        }
    }

    var dictionary: [String: String] {
        Dictionary(pairs.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
