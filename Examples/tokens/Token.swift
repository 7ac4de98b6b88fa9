import Foundation

/// Stands for what the ranging framework calls a discovery token: 16 random bytes of one device and
/// one launch that mean nothing to anybody else, and that are handed over as an archive.
final class Token: NSObject, NSSecureCoding {
    let bytes: Data

    /// A fresh one.
    override init() {
        bytes = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        super.init()
    }

    init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: "bytes"), data.length == 16
        else { return nil }
        bytes = data as Data
        super.init()
    }

    func encode(with coder: NSCoder) { coder.encode(NSData(data: bytes), forKey: "bytes") }

    static var supportsSecureCoding: Bool { true }

    override var description: String { bytes.map { String(format: "%02x", $0) }.joined() }

    // MARK: As a message

    init?(message: Data) {
        guard
            let token = try? NSKeyedUnarchiver.unarchivedObject(ofClass: Token.self, from: message)
        else { return nil }
        bytes = token.bytes
        super.init()
    }

    func message() throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: self, requiringSecureCoding: true)
    }
}
