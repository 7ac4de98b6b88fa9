import Configuration
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyWire

/// What somebody who stole a board knows: the network's name and its secret.
struct Network {
    let tag: NetworkTag
    let beaconKey: [UInt8]
    let admissionKey: [UInt8]

    init(_ options: Options) throws(RogueError) {
        let cryptography = OpenSSLCryptography(identity: .makeEphemeral())
        let digest = cryptography.sha256(
            Array("rivulet network \(options.text("network", or: "lab"))".utf8))
        tag = NetworkTag(value: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        guard case .success(let secrets) = Secret.load(try options.text("secret")),
            let secret = secrets.first
        else { throw RogueError("secret= is no file with a secret") }
        beaconKey = cryptography.deriveKey(from: secret, purpose: "rivulet beacon")
        admissionKey = cryptography.deriveKey(from: secret, purpose: "rivulet admission")
    }

    /// A discovery frame that everybody believes to be of this network.
    func proved(_ frame: DiscoveryFrame, _ cryptography: OpenSSLCryptography) -> [UInt8] {
        var frame = frame
        frame.proof = cryptography.hmac(key: beaconKey, frame.signedBytes)
            .prefix(DiscoveryFrame.proofByteCount).reduce(0) { $0 << 8 | UInt64($1) }
        return frame.bytes
    }
}
