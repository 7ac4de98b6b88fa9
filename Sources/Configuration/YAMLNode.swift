import CYAML

/// A place in a file, counted from 1.
public struct Mark: Hashable, Comparable, Sendable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: Mark, right: Mark) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// One thing that is wrong with a file, and what to do about it.
public struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    public var mark: Mark
    public var message: String

    public var description: String { "\(file):\(mark.line):\(mark.column): \(message)" }
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

    /// Reads one document. An empty one is an empty mapping. Aliases are refused: a short file
    /// could otherwise stand for a huge tree.
    public static func parse(_ text: [UInt8], file: String) throws(Mistake) -> YAMLNode {
        guard text.count <= byteCountMax else {
            throw Mistake(
                file: file, mark: Mark(line: 1, column: 1),
                message: "\(text.count) bytes; a configuration has at most \(byteCountMax)")
        }
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else {
            preconditionFailure("libyaml has no memory")
        }
        defer { yaml_parser_delete(&parser) }
        return try load(&parser, text, file)
    }

    private static func load(
        _ parser: inout yaml_parser_t, _ text: [UInt8], _ file: String
    ) throws(Mistake) -> YAMLNode {
        var result: Result<YAMLNode, Mistake> = .success(
            YAMLNode(value: .mapping([]), mark: Mark(line: 1, column: 1)))
        text.withUnsafeBufferPointer { bytes in
            yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
            var document = yaml_document_t()
            guard yaml_parser_load(&parser, &document) == 1 else {
                result = .failure(syntaxMistake(parser, file))
                return
            }
            defer { yaml_document_delete(&document) }
            guard let root = yaml_document_get_root_node(&document) else { return }
            var visited = 0
            do throws(Mistake) {
                result = .success(try node(root, &document, file, depth: 0, &visited))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    private static func node(
        _ source: UnsafeMutablePointer<yaml_node_t>, _ document: inout yaml_document_t,
        _ file: String, depth: Int, _ visited: inout Int
    ) throws(Mistake) -> YAMLNode {
        let mark = Mark(source.pointee.start_mark)
        visited += 1
        // A node that is reached more often than there are nodes was reached through aliases.
        let count = document.nodes.top - document.nodes.start
        guard depth <= depthMax, visited <= count else {
            throw Mistake(
                file: file, mark: mark,
                message: depth > depthMax
                    ? "nested more than \(depthMax) deep"
                    : "aliases are not supported; write it out")
        }
        switch source.pointee.type {
        case YAML_SEQUENCE_NODE:
            var items: [YAMLNode] = []
            let list = source.pointee.data.sequence.items
            var item = list.start
            while let current = item, current < list.top {
                if let child = yaml_document_get_node(&document, current.pointee) {
                    items.append(try node(child, &document, file, depth: depth + 1, &visited))
                }
                item = current + 1
            }
            return YAMLNode(value: .sequence(items), mark: mark)
        case YAML_MAPPING_NODE:
            var pairs: [(key: YAMLNode, value: YAMLNode)] = []
            let list = source.pointee.data.mapping.pairs
            var pair = list.start
            while let current = pair, current < list.top {
                if let key = yaml_document_get_node(&document, current.pointee.key),
                    let value = yaml_document_get_node(&document, current.pointee.value)
                {
                    pairs.append(
                        (
                            try node(key, &document, file, depth: depth + 1, &visited),
                            try node(value, &document, file, depth: depth + 1, &visited)
                        ))
                }
                pair = current + 1
            }
            return YAMLNode(value: .mapping(pairs), mark: mark)
        default:
            let scalar = source.pointee.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return YAMLNode(
                value: .scalar(
                    String(decoding: bytes, as: UTF8.self),
                    isQuoted: scalar.style != YAML_PLAIN_SCALAR_STYLE), mark: mark)
        }
    }

    private static func syntaxMistake(_ parser: yaml_parser_t, _ file: String) -> Mistake {
        let problem = parser.problem.map { String(cString: $0) } ?? "not YAML"
        let context = parser.context.map { String(cString: $0) + ": " } ?? ""
        return Mistake(
            file: file, mark: Mark(parser.problem_mark),
            message: "\(context)\(problem); is the file cut off, or an indentation wrong?")
    }
}

extension Mark {
    init(_ mark: yaml_mark_t) { self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1) }
}
