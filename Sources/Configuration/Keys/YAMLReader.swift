import CYAML

/// Builds the tree from libyaml's events, and stops at the first bound that is passed. libyaml's
/// own documents have none, and its time grows with the square of the depth.
final class YAMLReader {
    /// On the heap: libyaml keeps a pointer to it.
    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    private let text: UnsafeBufferPointer<UInt8>
    private let file: String
    private var nodeCount = 0

    /// `text` must outlive the reader.
    init(_ text: UnsafeBufferPointer<UInt8>, file: String) {
        self.text = text
        self.file = file
        guard yaml_parser_initialize(parser) == 1 else {
            preconditionFailure("libyaml has no memory")
        }
        yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    private enum Event {
        case scalar(String, isQuoted: Bool)
        case sequenceStart, sequenceEnd, mappingStart, mappingEnd
        case alias
        case documentStart, streamEnd
        /// Where a stream begins or a document ends.
        case other
    }

    /// The only document; nil if there is none.
    func document() throws(Mistake) -> YAMLNode? {
        var root: YAMLNode?
        while true {
            let (event, mark) = try next()
            switch event {
            case .streamEnd: return root
            case .documentStart:
                // What follows `---` would otherwise be passed over in silence.
                guard root == nil else {
                    throw mistake(
                        mark, "a second document begins; a configuration is one, remove the ---")
                }
                let (event, mark) = try next()
                root = try node(event, mark, depth: 0)
            default: continue
            }
        }
    }

    private func node(_ event: Event, _ mark: Mark, depth: Int) throws(Mistake) -> YAMLNode {
        nodeCount += 1
        guard nodeCount <= YAMLNode.nodeCountMax else {
            throw mistake(mark, "a configuration has at most \(YAMLNode.nodeCountMax) values")
        }
        guard depth <= YAMLNode.depthMax else {
            throw mistake(
                mark, "nested more than \(YAMLNode.depthMax) deep; no key needs that")
        }
        switch event {
        case .scalar(let text, let isQuoted):
            return YAMLNode(value: .scalar(text, isQuoted: isQuoted), mark: mark)
        case .sequenceStart:
            return YAMLNode(value: .sequence(try items(depth: depth + 1)), mark: mark)
        case .mappingStart:
            return YAMLNode(value: .mapping(try pairs(depth: depth + 1)), mark: mark)
        case .alias:
            throw mistake(mark, "an alias (*name) is used; write the value out")
        case .sequenceEnd, .mappingEnd, .documentStart, .streamEnd, .other:
            preconditionFailure("libyaml gave \(event) where a value begins")
        }
    }

    private func items(depth: Int) throws(Mistake) -> [YAMLNode] {
        var items: [YAMLNode] = []
        while true {
            let (event, mark) = try next()
            if case .sequenceEnd = event { return items }
            items.append(try node(event, mark, depth: depth))
        }
    }

    private func pairs(depth: Int) throws(Mistake) -> [(key: YAMLNode, value: YAMLNode)] {
        var pairs: [(key: YAMLNode, value: YAMLNode)] = []
        while true {
            let (event, mark) = try next()
            if case .mappingEnd = event { return pairs }
            let key = try node(event, mark, depth: depth)
            let (valueEvent, valueMark) = try next()
            pairs.append((key, try node(valueEvent, valueMark, depth: depth)))
        }
    }

    private func next() throws(Mistake) -> (event: Event, mark: Mark) {
        var raw = yaml_event_t()
        guard yaml_parser_parse(parser, &raw) == 1 else { throw syntaxMistake }
        defer { yaml_event_delete(&raw) }
        let event: Event
        switch raw.type {
        case YAML_SCALAR_EVENT:
            let scalar = raw.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            event = .scalar(
                String(decoding: bytes, as: UTF8.self),
                isQuoted: scalar.style != YAML_PLAIN_SCALAR_STYLE)
        case YAML_SEQUENCE_START_EVENT: event = .sequenceStart
        case YAML_SEQUENCE_END_EVENT: event = .sequenceEnd
        case YAML_MAPPING_START_EVENT: event = .mappingStart
        case YAML_MAPPING_END_EVENT: event = .mappingEnd
        case YAML_ALIAS_EVENT: event = .alias
        case YAML_DOCUMENT_START_EVENT: event = .documentStart
        case YAML_STREAM_END_EVENT: event = .streamEnd
        default: event = .other
        }
        return (event, Mark(raw.start_mark))
    }

    // MARK: Mistakes

    private func mistake(_ mark: Mark, _ message: String) -> Mistake {
        Mistake(file: file, mark: mark, message: message)
    }

    private var syntaxMistake: Mistake {
        let parser = parser.pointee
        let problem = parser.problem.map { String(cString: $0) } ?? "not YAML"
        let context = parser.context.map { String(cString: $0) + ": " } ?? ""
        // Of bytes that are no text libyaml tells the offset only.
        if parser.error == YAML_READER_ERROR {
            let before = text.prefix(parser.problem_offset)
            let lines = before.split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let place = Mark(line: lines.count, column: (lines.last?.count ?? 0) + 1)
            return mistake(place, "\(problem); save the file as plain UTF-8 text")
        }
        let place = Mark(parser.problem_mark)
        if character(at: place) == UInt8(ascii: "\t") {
            return mistake(place, "a tab; YAML is indented with spaces only: replace it")
        }
        return mistake(place, "\(context)\(problem); \(Self.advice(for: problem))")
    }

    /// - Parameter problem: in libyaml's words.
    private static func advice(for problem: String) -> String {
        if problem.hasPrefix("found character that cannot start any token") {
            return "put the text in quotation marks"
        }
        if problem.hasPrefix("mapping values are not allowed") {
            return "put the text in quotation marks, or check the indentation"
        }
        return "is the file cut off, or is the indentation wrong?"
    }

    /// The byte there, where all before it on its line are ASCII.
    private func character(at place: Mark) -> UInt8? {
        let lines = text.split(
            separator: UInt8(ascii: "\n"), maxSplits: place.line, omittingEmptySubsequences: false)
        guard lines.indices.contains(place.line - 1) else { return nil }
        return lines[place.line - 1].dropFirst(place.column - 1).first
    }
}

extension Mark {
    /// libyaml counts lines and columns (in characters) from 0.
    init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}
