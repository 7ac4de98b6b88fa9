/// What sender and receiver say besides the file itself.
enum FileService {
    /// In the discovery info of whoever receives files; the value is the version.
    static let key = "files"
    static let info = [key: "1"]
    /// In an invitation.
    static let context = Array("rivulet file 1".utf8)
}

/// What the receiver says of a file in the end, as a message of the session.
///
///     message = kind (1) text
///     kind = 1 stored | 2 refused; a text of UTF-8, at most 1,024 bytes
enum Remark: Equatable, Sendable {
    /// It is safe on the receiver's disk, under this name.
    case stored(String)
    /// It cannot be kept, for this reason.
    case refused(String)

    /// Nil for other messages: of a later version, or of somebody else.
    init?(parsing bytes: [UInt8]) {
        guard let kind = bytes.first, bytes.count <= 1 + Self.textBytesMax else { return nil }
        let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
        switch kind {
        case 1: self = .stored(text)
        case 2: self = .refused(text)
        default: return nil
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .stored(let name): [1] + name.utf8.prefix(Self.textBytesMax)
        case .refused(let reason): [2] + reason.utf8.prefix(Self.textBytesMax)
        }
    }

    private static let textBytesMax = 1_024
}
