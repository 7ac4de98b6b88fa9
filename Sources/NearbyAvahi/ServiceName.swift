import NearbyCore

/// The name that a service is published under: for people only, the PeerID says who it is.
///
/// At most 63 bytes of UTF-8 (RFC 6763 §4.1.1). If somebody has the name already, the first digits
/// of the PeerID follow it: `pi`, `pi mzxw6`, `pi mzxw6 3`. So the boards of one flashed card
/// need one more attempt each, not one for each board that came before.
struct ServiceName: Sendable {
    private let name: String
    private let suffix: String
    /// Names given up because somebody had them.
    private(set) var collisionCount = 0

    init(_ name: String, peer: PeerID) {
        self.name = name
        suffix = String(peer.description.prefix(5))
    }

    mutating func collide() { collisionCount += 1 }

    var text: String {
        switch collisionCount {
        case 0: Self.joined(name, "")
        case 1: Self.joined(name, " \(suffix)")
        default: Self.joined(name, " \(suffix) \(collisionCount + 1)")
        }
    }

    /// The name cut so that the end fits; never within a character.
    private static func joined(_ name: String, _ end: String) -> String {
        var result = ""
        var byteCount = end.utf8.count
        for character in name {
            byteCount += character.utf8.count
            guard byteCount <= bytesMax else { break }
            result.append(character)
        }
        return (result.isEmpty ? "rivulet" : result) + end
    }

    private static let bytesMax = 63
}
