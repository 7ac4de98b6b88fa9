import NearbyCore
import NearbyWire

/// Discovery frames with the proof of the network's secret: HMAC-SHA-256 over the frame, its first
/// 8 bytes.
struct BeaconCodec {
    enum Refusal: Error {
        case malformed
        case unsupportedVersion
        case otherNetwork(DiscoveryFrame)
        case unproved(DiscoveryFrame)
    }

    private let network: NetworkTag
    /// One for each secret: the first proves, all are accepted. Empty: everybody is let in.
    private let keys: [[UInt8]]
    private let cryptography: any Cryptography

    init(_ configuration: NodeConfiguration, _ cryptography: any Cryptography) {
        network = configuration.networkTag
        keys = configuration.secrets.map {
            cryptography.deriveKey(from: $0, purpose: "rivulet beacon")
        }
        self.cryptography = cryptography
    }

    /// Strangers are told before anything is computed for them.
    func parse(_ bytes: [UInt8]) throws(Refusal) -> DiscoveryFrame {
        let frame: DiscoveryFrame
        do throws(WireError) {
            frame = try DiscoveryFrame(parsing: bytes[...])
        } catch {
            if case .unsupportedVersion = error { throw .unsupportedVersion }
            throw .malformed
        }
        guard frame.network == network else { throw .otherNetwork(frame) }
        guard isProved(bytes) else { throw .unproved(frame) }
        return frame
    }

    func emit(_ frame: DiscoveryFrame) -> [UInt8] {
        guard let key = keys.first else { return frame.bytes }
        var proved = frame
        proved.proof = cryptography.hmac(key: key, frame.signedBytes)
            .prefix(DiscoveryFrame.proofByteCount).reduce(0) { $0 << 8 | UInt64($1) }
        return proved.bytes
    }

    private func isProved(_ bytes: [UInt8]) -> Bool {
        guard !keys.isEmpty else { return true }
        guard let signed = DiscoveryFrame.signedPart(of: bytes[...]) else { return false }
        let proof = bytes.suffix(DiscoveryFrame.proofByteCount)
        return keys.contains { key in
            let right = cryptography.hmac(key: key, Array(signed))
            return cryptography.constantTimeEquals(
                right.prefix(DiscoveryFrame.proofByteCount), proof)
        }
    }
}
