/// A pattern for names, as a shell has it: `*` for anything, `?` for one character, `[a-c]` and
/// `[!a-c]` for one of a set. A name that is the pattern itself always matches.
public struct Glob: Hashable, Sendable {
    private enum Element: Hashable, Sendable {
        case one(Character)
        case any
        case set([ClosedRange<Character>], isNegated: Bool)
        case run
    }

    private let pattern: String
    private let elements: [Element]

    public init(_ pattern: String) {
        self.pattern = pattern
        var rest = Array(pattern)[...]
        var elements: [Element] = []
        while let first = rest.popFirst() {
            switch first {
            case "*": if elements.last != .run { elements.append(.run) }
            case "?": elements.append(.any)
            case "[":
                if let set = Self.set(&rest) { elements.append(set) } else { fallthrough }
            default: elements.append(.one(first))
            }
        }
        self.elements = elements
    }

    /// In time proportional to both lengths: only the last `*` is ever tried anew.
    public func matches(_ name: String) -> Bool {
        if name == pattern { return true }
        let name = Array(name)
        var (place, index) = (0, 0)
        var retry: (index: Int, place: Int)?
        while place < name.count {
            if index < elements.count, elements[index] == .run {
                retry = (index, place)
                index += 1
            } else if index < elements.count, Self.takes(elements[index], name[place]) {
                (place, index) = (place + 1, index + 1)
            } else if let last = retry {
                retry = (last.index, last.place + 1)
                (place, index) = (last.place + 1, last.index + 1)
            } else {
                return false
            }
        }
        return elements[index...].allSatisfy { $0 == .run }
    }

    private static func takes(_ element: Element, _ character: Character) -> Bool {
        switch element {
        case .one(let wanted): character == wanted
        case .any, .run: true
        case .set(let ranges, let isNegated):
            ranges.contains { $0.contains(character) } != isNegated
        }
    }

    /// What stands after `[`, up to `]`; nil, and nothing is read, where there is none.
    private static func set(_ rest: inout ArraySlice<Character>) -> Element? {
        var inner = rest
        let isNegated = inner.first == "!" || inner.first == "^"
        if isNegated { inner.removeFirst() }
        var ranges: [ClosedRange<Character>] = []
        while let first = inner.popFirst() {
            if first == "]", !ranges.isEmpty {
                rest = inner
                return .set(ranges, isNegated: isNegated)
            }
            var last = first
            if inner.first == "-", let end = inner.dropFirst().first, end != "]", end >= first {
                last = end
                inner.removeFirst(2)
            }
            ranges.append(first...last)
        }
        return nil
    }
}

extension [Glob] {
    /// True where one of them does, and where there is none.
    public func allow(_ name: String) -> Bool { isEmpty || contains { $0.matches(name) } }
}
