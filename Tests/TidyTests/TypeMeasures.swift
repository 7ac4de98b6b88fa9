/// Types that are still larger than they should be: each number only falls.
enum TypeLimits {
    static let lines: [String: Int] = [:]
    static let storedProperties: [String: Int] = ["NearbySimulator.Host": 24]
    /// Names of types that others have within themselves, where the outer one says of what.
    static let sharedNames: Set<String> = [
        "Arrival", "Change", "Column", "Key", "Outcome", "PendingAnswer", "Quantity", "Receipt",
        "Reply", "Sample", "Service", "Settings", "Standing",
    ]
}

/// What types take, told by indentation: the formatter sees to it.
extension SourceFile {
    var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

    /// Lines of each type with its extensions, by `Target.Type`; what is nested counts too.
    static var typeLengths: [String: Int] {
        var lengths: [String: Int] = [:]
        for file in all where file.path.hasPrefix("Sources/") {
            for type in file.types { lengths[type.name, default: 0] += type.lines.count }
        }
        return lengths
    }

    /// Types at the top level of files, without their extensions.
    static var declaredTypes: [(name: String, path: String)] { types(areNested: false) }

    static var nestedTypes: [(name: String, path: String)] { types(areNested: true) }

    private static func types(areNested: Bool) -> [(name: String, path: String)] {
        all.filter { $0.path.hasPrefix("Sources/") }.flatMap { file in
            file.lines.filter { ($0.first == " ") == areNested }.compactMap { line in
                let words = line.split(separator: " ")
                guard
                    let keyword = words.firstIndex(where: typeKeywords.contains),
                    words[keyword] != "extension",
                    words[..<keyword].allSatisfy(modifiers.contains), keyword + 1 < words.count
                else { return nil }
                let name = words[keyword + 1].prefix { $0.isLetter || $0.isNumber }
                return (String(name), file.path)
            }
        }
    }

    /// Whether it belongs to a state machine: `PowerMachine.swift`, `AvahiMachine+Names.swift`.
    /// `MachineCheck` and `ThisMachine` are about the computer.
    var isMachine: Bool {
        let name = path.split(separator: "/").last?.prefix { $0 != "." && $0 != "+" } ?? ""
        return path.hasPrefix("Sources/") && name.hasSuffix("Machine") && name != "ThisMachine"
    }

    static var storedPropertyCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for file in all where file.path.hasPrefix("Sources/") {
            for type in file.types {
                let stored = type.lines.filter(\.isStoredProperty)
                counts[type.name, default: 0] += stored.count
            }
        }
        return counts
    }

    private struct TypeBlock {
        var name: String
        var lines: ArraySlice<String>
    }

    private var types: [TypeBlock] {
        var result: [TypeBlock] = []
        for (number, line) in lines.enumerated() where line.hasSuffix("{") && line.first != " " {
            let words = line.split(separator: " ")
            guard
                let keyword = words.firstIndex(where: Self.typeKeywords.contains),
                words[..<keyword].allSatisfy(Self.modifiers.contains), keyword + 1 < words.count,
                let end = lines[(number + 1)...].firstIndex(of: "}")
            else { continue }
            let name = words[keyword + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." }
            result.append(
                TypeBlock(name: "\(target).\(name)", lines: lines[number...end]))
        }
        return result
    }

    private static let typeKeywords: Set<Substring> = [
        "struct", "class", "enum", "actor", "extension",
    ]
    private static let modifiers: Set<Substring> = [
        "public", "private", "fileprivate", "package", "final", "indirect",
    ]
}

extension String {
    /// A `var` or `let` of a type that has storage: one without an accessor's brace, or with an
    /// observer.
    fileprivate var isStoredProperty: Bool {
        guard prefix(while: { $0 == " " }).count == 4 else { return false }
        let words = split(separator: " ")
        guard let keyword = words.firstIndex(where: { $0 == "var" || $0 == "let" }),
            words[..<keyword].allSatisfy({ Self.propertyModifiers.contains($0) })
        else { return false }
        return !hasSuffix("{") && !contains(" { ") || contains("didSet")
    }

    private static let propertyModifiers: Set<Substring> = [
        "public", "private", "fileprivate", "package", "internal", "private(set)",
        "fileprivate(set)", "internal(set)", "package(set)", "weak", "unowned", "lazy",
        "nonisolated(unsafe)",
    ]
}
