import Foundation
import Testing

/// What can be checked of the tree's style by reading it. Limits here only ever tighten.
struct TidyTests {
    @Test func noFileIsLongerThanOneSubject() {
        for file in SourceFile.all {
            #expect(file.lines.count <= 438, "\(file.path) has \(file.lines.count) lines")
        }
    }

    @Test func noLineIsWiderThan100Columns() {
        for file in SourceFile.all {
            // Drawings of messages in comments may be as wide as they are.
            for (number, line) in file.lines.enumerated()
            where line.count > 100 && !line.contains("///     ") {
                Issue.record("\(file.path):\(number + 1) has \(line.count) columns")
            }
        }
    }

    @Test func noFunctionIsLongerThan61Lines() {
        for file in SourceFile.all.filter({ $0.path.hasPrefix("Sources/") }) {
            for function in file.functions where function.lineCount > 61 {
                Issue.record(
                    "\(file.path):\(function.line) is \(function.lineCount) lines long")
            }
        }
    }

    /// A folder is looked through at one glance.
    @Test func noFolderIsFlat() {
        let files = SourceFile.all.filter { $0.path.hasPrefix("Sources/") }
        for (folder, files) in Dictionary(grouping: files, by: \.folder) {
            #expect(files.count <= 12, "\(folder) has \(files.count) files")
        }
    }

    /// A name means one thing, whatever target it lies in.
    @Test func noTwoTypesShareAName() {
        let targets = Dictionary(grouping: SourceFile.declaredTypes, by: \.name)
        for (name, declared) in targets where declared.count > 1 {
            Issue.record("\(name) is declared in \(declared.map(\.path).sorted())")
        }
    }

    /// So that what is nested hides nothing.
    @Test func noNestedTypeHasTheNameOfAnOuterOne() {
        let outer = Set(SourceFile.declaredTypes.map(\.name))
        for type in SourceFile.nestedTypes
        where outer.contains(type.name) && !TypeLimits.sharedNames.contains(type.name) {
            Issue.record("\(type.name) in \(type.path) is also a type of its own")
        }
        for name in TypeLimits.sharedNames where !outer.contains(name) {
            Issue.record("\(name) is shared no more")
        }
    }

    /// Over all its extensions within its target; those that are longer may only become shorter.
    @Test func noTypeIsLongerThan600Lines() {
        for (type, lineCount) in SourceFile.typeLengths {
            let limit = TypeLimits.lines[type] ?? 600
            #expect(lineCount <= limit, "\(type) has \(lineCount) lines of at most \(limit)")
        }
    }

    @Test func noTypeHasMoreThan20StoredProperties() {
        for (type, count) in SourceFile.storedPropertyCounts {
            let limit = TypeLimits.storedProperties[type] ?? 20
            #expect(count <= limit, "\(type) has \(count) stored properties of at most \(limit)")
        }
    }

    @Test(arguments: Banned.everywhere) func bannedEverywhere(_ banned: Banned) throws {
        try expectAbsence(of: banned, in: SourceFile.all)
    }

    @Test(arguments: Banned.inSources) func bannedInSources(_ banned: Banned) throws {
        let sources = SourceFile.all.filter { $0.path.hasPrefix("Sources/") }
        // Apple's framework speaks Foundation's types.
        let speaksFoundation = banned.pattern.contains("Foundation")
        try expectAbsence(
            of: banned,
            in: sources.filter { !speaksFoundation || $0.target != "MultipeerConnectivity" })
    }

    @Test(arguments: Banned.names) func bannedNames(_ banned: Banned) throws {
        let sources = SourceFile.all.filter { $0.path.hasPrefix("Sources/") }
        try expectAbsence(of: banned, in: sources)
    }

    @Test(arguments: Banned.inLogic) func bannedInLogic(_ banned: Banned) throws {
        let logic = [
            "NearbyCore", "NearbyWire", "NearbyEngine", "NearbyGroups", "NearbyTransfers",
            "NearbySimulator", "Telemetry", "Sampling", "AgentComposition", "Collector",
            "CollectorComposition",
        ]
        let files = SourceFile.all.filter { logic.contains($0.target) || $0.isMachine }
        try expectAbsence(of: banned, in: files)
    }

    @Test func everyTargetImportsOnlyWhatItMay() {
        for file in SourceFile.all.filter({ $0.path.hasPrefix("Sources/") }) {
            guard let allowed = Imports.allowed[file.target] else {
                Issue.record("\(file.path): the target is not in the table of imports")
                continue
            }
            for name in file.imports where !allowed.contains(name) {
                Issue.record("\(file.path) imports \(name)")
            }
        }
    }

    @Test func theTableOfImportsAllowsNothingThatIsNotUsed() {
        let files = Dictionary(
            grouping: SourceFile.all.filter { $0.path.hasPrefix("Sources/") }, by: \.target)
        for (target, allowed) in Imports.allowed {
            let unused = allowed.subtracting(files[target, default: []].flatMap(\.imports))
            #expect(unused.isEmpty, "\(target) imports none of \(unused.sorted())")
        }
    }

    @Test func everyDropReasonIsProducedSomewhere() {
        let table = "Sources/NearbyCore/DropReason.swift"
        var words: Set<Substring> = []
        for file in SourceFile.all where file.path.hasPrefix("Sources/") && file.path != table {
            for line in file.lines where !line.contains("///") {
                words.formUnion(line.split { !$0.isLetter && !$0.isNumber })
            }
        }
        for file in SourceFile.all where file.path == table {
            for line in file.lines where line.contains(" = \"") {
                let name = line.split(separator: " ")[1]
                #expect(words.contains(name), "nothing is dropped as \(name)")
            }
        }
    }

    private func expectAbsence(of banned: Banned, in files: [SourceFile]) throws {
        let expression = try NSRegularExpression(
            pattern: banned.pattern, options: .anchorsMatchLines)
        for file in files where file.path != "Tests/TidyTests/Banned.swift" {
            let text = file.text
            let whole = NSRange(location: 0, length: text.utf16.count)
            for match in expression.matches(in: text, range: whole) {
                let newline = UInt16(UInt8(ascii: "\n"))
                let line = text.utf16.prefix(match.range.location).count { $0 == newline } + 1
                Issue.record("\(file.path):\(line): \(banned.pattern); \(banned.instead)")
            }
        }
    }
}

/// A Swift file of the tree.
struct SourceFile: Sendable {
    var path: String
    var text: String
    var lines: [String]

    /// What documentation shows belongs to no target: deploy/docs.sh compiles it.
    static let all: [SourceFile] = ["Sources", "Tests", "Benchmarks"].flatMap(files(below:))
        .filter { !$0.path.contains(".docc/") }

    /// The target's folder name.
    var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    var imports: [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), index <= 1, words.count > index + 1
            else { return nil }
            return words[index] == words.first || words[0].hasPrefix("@")
                ? String(words[words.count - 1].split(separator: ".")[0]) : nil
        }
    }

    /// Where functions begin and how many lines they have, told by indentation.
    var functions: [(line: Int, lineCount: Int)] {
        var result: [(line: Int, lineCount: Int)] = []
        for (number, line) in lines.enumerated() {
            let words = line.split(separator: " ").prefix(5)
            guard words.contains("func") || words.contains(where: { $0.hasPrefix("init(") }),
                !line.hasSuffix("}")
            else { continue }
            let indent = line.prefix { $0 == " " }
            let end = lines[(number + 1)...].firstIndex { $0 == indent + "}" }
            if let end { result.append((number + 1, end - number + 1)) }
        }
        return result
    }

    private static func files(below folder: String) -> [SourceFile] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let walk = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
        return (walk?.allObjects as? [String] ?? []).filter { $0.hasSuffix(".swift") }.sorted()
            .compactMap { name in
                let path = folder + "/" + name
                guard
                    let text = try? String(
                        contentsOf: root.appendingPathComponent(path), encoding: .utf8)
                else { return nil }
                return SourceFile(
                    path: path, text: text,
                    lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(
                        String.init))
            }
    }
}

/// Which target may import which: an inner target never imports an outer one.
enum Imports {
    static let allowed: [String: Set<String>] = [
        "DurableFiles": ["Glibc"],
        "NearbyCore": [],
        "NearbyWire": ["NearbyCore"],
        "NearbyEngine": ["NearbyCore", "NearbyWire"],
        "NearbyGroups": ["NearbyCore", "NearbyWire"],
        "NearbyTransfers": ["NearbyCore", "NearbyWire", "NearbyEngine"],
        "NearbyDTLS": ["NearbyCore", "NearbyEngine", "DurableFiles", "COpenSSL"],
        "NearbyKeys": ["NearbyDTLS", "DurableFiles", "COpenSSL"],
        "NearbyLinux": ["NearbyCore", "CLinux", "Glibc", "Synchronization"],
        "NearbyAvahi": ["NearbyCore", "NearbyWire", "NearbyLinux", "CAvahi", "Glibc"],
        "NearbyBluetooth": ["NearbyCore", "NearbyWire", "NearbyLinux", "CBluetooth", "Glibc"],
        "NearbyCertificates": ["NearbyGroups", "COpenSSL"],
        "Nearby": [
            "NearbyCore", "NearbyWire", "NearbyEngine", "NearbyGroups", "NearbyTransfers",
            "NearbyDTLS", "NearbyLinux", "NearbyAvahi", "NearbyBluetooth", "NearbyCertificates",
            "DurableFiles", "CLinux",
            "Glibc", "Synchronization",
        ],
        "FileTransfer": [
            "Nearby", "NearbyCore", "NearbyLinux", "Configuration", "DurableFiles", "CLinux",
            "Glibc", "Synchronization",
        ],
        "Telemetry": ["NearbyCore"],
        "NearbyReadings": [
            "Nearby", "NearbyCore", "NearbyLinux", "Telemetry", "Configuration", "Glibc",
        ],
        "Spool": ["NearbyCore", "Telemetry", "DurableFiles"],
        "Sampling": ["NearbyCore", "Telemetry"],
        "AgentComposition": ["NearbyCore", "NearbyEngine", "Telemetry", "Sampling"],
        "CollectorComposition": ["NearbyCore", "NearbyEngine", "Telemetry", "Collector"],
        "Sensors": [
            "NearbyCore", "Telemetry", "Sampling", "DurableFiles", "CLinux", "CGPIOD", "COpenSSL",
            "Glibc", "Synchronization",
        ],
        "Configuration": ["NearbyCore", "Telemetry", "CYAML", "Glibc"],
        "CollectorConfiguration": ["Configuration", "NearbyCore", "Telemetry"],
        "Boards": ["Configuration", "Glibc", "Synchronization"],
        "Collector": ["NearbyCore", "Telemetry"],
        "Store": [
            "NearbyCore", "Telemetry", "Collector", "Fleet", "Outputs", "DurableFiles", "Spool",
            "CSQLite", "Glibc",
        ],
        "Outputs": ["NearbyCore", "Telemetry", "Fleet"],
        "OutputFiles": [
            "NearbyCore", "Fleet", "Outputs", "NearbyLinux", "DurableFiles", "CLinux", "Glibc",
        ],
        "OutputMQTT": [
            "NearbyCore", "Fleet", "Outputs", "CollectorConfiguration", "Configuration",
            "CMosquitto", "Glibc",
        ],
        "OutputShell": [
            "NearbyCore", "Store", "Fleet", "Outputs", "CollectorConfiguration", "NearbyLinux",
            "OutputFiles", "OutputHTTP", "OutputPostgres", "OutputNATS", "OutputMQTT", "CLinux",
            "Glibc", "Synchronization",
        ],
        "FleetPage": [
            "NearbyCore", "Telemetry", "Collector", "Store", "Fleet", "Outputs", "Configuration",
            "CollectorConfiguration", "NearbyLinux", "CMicroHTTPD", "Glibc", "Synchronization",
        ],
        "NodeShell": [
            "NearbyCore", "NearbyWire", "NearbyEngine", "NearbyDTLS", "NearbyLinux",
            "NearbyAvahi", "NearbyBluetooth", "Telemetry", "Sampling", "Sensors",
            "AgentComposition",
            "Spool", "Configuration", "Boards", "DurableFiles", "Glibc",
        ],
        "CollectorShell": [
            "NodeShell", "Configuration", "CollectorConfiguration", "NearbyCore", "NearbyEngine",
            "NearbyLinux", "Telemetry", "Collector", "CollectorComposition", "Store", "Fleet",
            "Outputs", "OutputShell",
            "OutputHTTP", "OutputFiles", "FleetPage", "Alarms", "DurableFiles", "Glibc",
            "Synchronization",
        ],
        "OutputHTTP": [
            "NearbyCore", "NearbyLinux", "Fleet", "Outputs", "CollectorConfiguration",
            "Configuration", "CCurl",
            "Glibc",
        ],
        "Alarms": ["NearbyCore", "Telemetry", "Collector", "Fleet"],
        "Fleet": ["NearbyCore", "Telemetry", "Collector", "Synchronization"],
        "NearbySimulator": ["NearbyCore", "NearbyWire", "NearbyEngine"],
        "Survey": [
            "NodeShell", "Configuration", "NearbyCore", "NearbySimulator", "Collector", "Telemetry",
            "Fleet",
        ],
        "FleetTerminal": ["NearbyCore", "Telemetry", "Collector", "Fleet"],
        "OutputPostgres": [
            "NearbyCore", "Fleet", "Outputs", "CollectorConfiguration", "CPostgres", "Glibc",
        ],
        "OutputNATS": [
            "NearbyCore", "Fleet", "Outputs", "CollectorConfiguration", "CNATS", "Glibc",
            "Synchronization",
        ],
        "Setup": [
            "NodeShell", "CollectorConfiguration", "Configuration", "Boards", "NearbyCore",
            "NearbyEngine", "NearbyDTLS",
            "NearbyKeys", "NearbyLinux", "DurableFiles", "Spool", "Glibc",
        ],
        "MultipeerConnectivity": [
            "NearbyCore", "Nearby", "CCurl", "Foundation", "FoundationNetworking", "Observation",
        ],
        "rivulet-agent": ["NodeShell", "Glibc"],
        "rivulet": [
            "CollectorShell", "Collector", "Setup", "Survey",
            "NodeShell", "CollectorConfiguration", "Configuration", "Boards", "NearbyCore",
            "NearbyWire", "NearbyEngine",
            "NearbyLinux", "NearbySimulator", "Store", "Nearby", "FileTransfer", "Fleet",
            "FleetTerminal",
            "ArgumentParser", "CLinux", "CQREncode", "Glibc", "Synchronization",
        ],
    ]
}
