/// A place in a file, counted from 1.
public struct Mark: Hashable, Comparable, Sendable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Where a whole file is meant.
    public static let start = Mark(line: 1, column: 1)

    public static func < (left: Mark, right: Mark) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// One thing that is wrong with a file, and what to do about it.
public struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    public var mark: Mark
    public var message: String
    /// errno's, where the file could not be read; 0 otherwise.
    public var systemCode: Int32

    package init(file: String, mark: Mark, message: String, systemCode: Int32 = 0) {
        self.file = file
        self.mark = mark
        self.message = message
        self.systemCode = systemCode
    }

    /// Of a file that could not be read there is no place to name.
    public var description: String {
        systemCode == 0 ? "\(file):\(mark.line):\(mark.column): \(message)" : "\(file): \(message)"
    }
}

/// A YAML document as a tree with places.
public struct YAMLNode: Sendable {
    public enum Value: Sendable {
        case scalar(String, isQuoted: Bool)
        case sequence([YAMLNode])
        /// In the order of the file; keys may come twice.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    public var value: Value
    public var mark: Mark

    /// What a configuration may measure.
    public static let byteCountMax = 256 * 1_024
    static let depthMax = 16
    static let nodeCountMax = 20_000

    /// Reads one document. An empty one is an empty mapping. Aliases are refused: a short file
    /// could otherwise stand for a huge tree.
    public static func parse(_ text: [UInt8], file: String) throws(Mistake) -> YAMLNode {
        guard text.count <= byteCountMax else {
            throw Mistake(
                file: file, mark: .start,
                message: "\(text.count) bytes; a configuration has at most \(byteCountMax)")
        }
        var result: Result<YAMLNode, Mistake> = .success(
            YAMLNode(value: .mapping([]), mark: .start))
        text.withUnsafeBufferPointer { bytes in
            do throws(Mistake) {
                let reader = YAMLReader(bytes, file: file)
                if let root = try reader.document() { result = .success(root) }
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }
}
