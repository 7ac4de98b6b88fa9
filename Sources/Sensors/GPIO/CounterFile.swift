import DurableFiles
import NearbyCore

/// Where a counter outlasts the agent: a file with its pulses in decimal and a line's end.
///
/// People may set it, while the agent is stopped: to what their meter shows, in pulses. Written at
/// most once a minute, because memory cards wear out, and when the agent stops. A power cut or a
/// kill loses the pulses since the last time it was written.
struct CounterFile<Files: FileOperations> {
    enum Content: Equatable {
        case none
        case count(Int64)
        /// No number. The file was put aside, so that it is not written over.
        case damaged(keptAs: String)
    }

    private static var bytesMax: Int { 4_096 }
    static var pause: Duration { .seconds(60) }

    let path: String
    let files: Files
    /// What the file says, as far as is known.
    private(set) var saved: Int64?
    /// When it was last tried.
    private var written: Instant?

    /// `name` may be any text: what is not plain in a file's name becomes `%` and two hexadecimal
    /// digits a byte.
    init(state directory: String, name: String, through files: Files) {
        path = "\(directory)/counters/\(Self.plain(name))"
        self.files = files
    }

    /// Throws where nobody knows what is in it: then nothing may be written either.
    mutating func load() throws(FileError) -> Content {
        guard let bytes = try AtomicFile.read(path, limit: Self.bytesMax, through: files)
        else { return .none }
        var text = String(decoding: bytes, as: UTF8.self)[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        if let count = Int64(text), count >= 0 {
            saved = count
            return .count(count)
        }
        let kept = path + ".damaged"
        try files.rename(path, to: kept)
        return .damaged(keptAs: kept)
    }

    /// Whether the file says less than this count.
    func isBehind(_ count: Int64) -> Bool { saved.map { count > $0 } ?? true }

    /// Whether it is time to write this count.
    func isDue(_ count: Int64, now: Instant) -> Bool {
        isBehind(count) && (written.map { now - $0 >= Self.pause } ?? true)
    }

    /// Whether the file says another count, higher or lower, and was last written so long ago.
    func isOutdated(_ count: Int64, after pause: Duration, now: Instant) -> Bool {
        saved != count && (written.map { now - $0 >= pause } ?? true)
    }

    /// Atomically: after a power cut it has this count or the one before.
    mutating func save(_ count: Int64, now: Instant) throws(FileError) {
        written = now
        if let folder = path.pathFolder {
            try files.makeDirectories(folder, permissions: 0o755)
        }
        try AtomicFile.write(
            Array("\(count)\n".utf8), to: path, permissions: 0o644, through: files)
        saved = count
    }

    private static func plain(_ name: String) -> String {
        var result = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hexadecimal = String(byte, radix: 16)
                result += "%" + (hexadecimal.count < 2 ? "0" : "") + hexadecimal
            }
        }
        return result
    }
}
