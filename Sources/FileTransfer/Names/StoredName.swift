/// The name under which a file is stored that somebody else has named: one part, never a path;
/// nothing in it that terminals obey, nothing hidden, at most 255 bytes.
struct StoredName: Hashable, Sendable, CustomStringConvertible {
    let description: String

    /// Of a path the last part counts, on whatever system it was one.
    init(offered: String) {
        // By scalars: to Swift a slash with a mark behind it is another character.
        let parts = offered.unicodeScalars.split { $0 == "/" || $0 == "\\" }
        var text = ReadableText.replacing(parts.last.map { String($0) } ?? "", with: "_")
        while text.hasPrefix(" ") { text.removeFirst() }
        while text.hasSuffix(" ") { text.removeLast() }
        // A file that a shell or a desktop reads by itself is hidden, and `-rf` is an option.
        if let first = text.unicodeScalars.first, first == "." || first == "-" {
            text = "_" + String(text.unicodeScalars.dropFirst())
        }
        if text.isEmpty { text = "file" }
        self.init(text, suffix: "")
    }

    private init(_ text: String, suffix: String) {
        let (stem, ending) = Self.parts(text)
        let room = Self.bytesMax - suffix.utf8.count - ending.utf8.count
        description = Self.cut(stem, to: room) + suffix + ending
    }

    /// `name (2).ext`: for the case that `name.ext` is taken.
    func numbered(_ number: Int) -> StoredName {
        StoredName(description, suffix: " (\(number))")
    }

    /// The ending, with its dot, is what follows the last dot, if that is short.
    private static func parts(_ text: String) -> (stem: String, ending: String) {
        guard let dot = text.lastIndex(of: "."), dot != text.startIndex,
            text[dot...].utf8.count <= endingBytesMax
        else { return (text, "") }
        return (String(text[..<dot]), String(text[dot...]))
    }

    private static func cut(_ text: String, to byteCount: Int) -> String {
        var text = text
        while text.utf8.count > byteCount { text.removeLast() }
        return text
    }

    /// What Linux's file systems take.
    static let bytesMax = 255
    private static let endingBytesMax = 16
}
