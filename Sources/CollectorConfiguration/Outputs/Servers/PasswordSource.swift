import Configuration

/// Where the password for a server comes from.
public enum PasswordSource: Equatable, Sendable {
    case none
    /// Read whenever a connection is made, so that it can be changed while the collector runs.
    case file(String)
    /// As it stands in the configuration.
    case inline(String)

    /// Its two keys, for the table of an output.
    static let keys = keys(of: "password")

    /// - Parameter word: "password", or "token", which is as secret.
    static func keys(of word: String) -> [Key] {
        [
            Key(
                "\(word)-file", .path, .described("no \(word)"),
                "A file with the \(word) in one line. Only its owner may be able to read it."),
            Key(
                word, .text(1...255), .described("`\(word)-file`"),
                "The \(word) itself, if the configuration is as private as a file would be."),
        ]
    }

    init(_ section: Section, of word: String = "password") {
        switch (section.text("\(word)-file"), section.text(word)) {
        case (nil, nil): self = .none
        case (let path?, nil): self = .file(path)
        case (nil, let secret?):
            self = .inline(secret)
            section.warn(word, "whoever reads this file reads the \(word); use \(word)-file")
        case (let path?, _):
            self = .file(path)
            section.add(word, "\(word) and \(word)-file exclude each other; leave one out")
        }
    }

    /// Why a password cannot be had; never shows it.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        public var description: String
    }

    /// Nil if there is none. The file's one line, without its end.
    public func read() throws(Fault) -> String? {
        switch self {
        case .none: return nil
        case .inline(let password): return password
        case .file(let path):
            let bytes: [UInt8]
            do throws(SmallFile.Fault) {
                bytes = try SmallFile.read(path, limit: 4_096, isPrivate: true)
            } catch {
                throw Fault(description: "\(path): \(error)")
            }
            return try Self.line(of: bytes, path)
        }
    }

    /// That a file with a secret, which others read for us, can be read by its owner only.
    public static func checkPrivate(_ path: String, _ key: String) throws(Fault) {
        do throws(SmallFile.Fault) {
            _ = try SmallFile.read(path, limit: 65_536, isPrivate: true)
        } catch {
            throw Fault(description: "\(key) \(path): \(error)")
        }
    }

    private static func line(of bytes: [UInt8], _ path: String) throws(Fault) -> String {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty else {
            throw Fault(description: "\(path): its first line is empty")
        }
        guard !line.contains(0), let text = String(validating: line, as: UTF8.self) else {
            throw Fault(description: "\(path): its first line is not UTF-8 text")
        }
        return text
    }
}
