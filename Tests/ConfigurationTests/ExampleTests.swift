import Foundation
import Testing

@testable import CollectorConfiguration
@testable import Configuration

/// The ready-made configurations in deploy/examples must be good as they are.
struct ExampleTests {
    private static let folder: String = {
        let here = "Tests/ConfigurationTests/ExampleTests.swift"
        return #filePath.dropLast(here.utf8.count) + "deploy/examples"
    }()

    private static var files: [String] {
        let all = try? FileManager.default.contentsOfDirectory(atPath: folder)
        return (all ?? []).filter { $0.hasSuffix(".yaml") }.sorted()
    }

    private static func text(_ file: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
    }

    /// What `rivulet check` says once the files that it names have been made.
    private static func outcome(_ text: String) -> Settings.Outcome {
        let files = TemporaryFolder()
        let key = String(repeating: "0123456789abcdef", count: 2)
        let secret = files.write("secret", Sample.secret + "\n")
        let bindKey = files.write("bedroom.key", key + "\n")
        let local = text.replacingOccurrences(of: ": /etc/rivulet/secret", with: ": \(secret)")
            .replacingOccurrences(of: ": /etc/rivulet/bedroom.key", with: ": \(bindKey)")
        return CollectorSettings.decode(Array(local.utf8), file: "f").node
    }

    @Test func thereAreTenSetUps() { #expect(Self.files.count >= 10) }

    @Test(arguments: Self.files)
    func anExampleHasNoMistake(_ file: String) throws {
        let text = try Self.text(file)
        let outcome = Self.outcome(text)
        #expect(Sample.texts(outcome) == [])
        // Every entry is really there: none is lost to an indentation.
        let entries = text.split(separator: "\n").count { line in
            let words = line.drop { $0 == " " }
            return words.hasPrefix("- driver: ") || words.hasPrefix("- {driver: ")
        }
        let settings = try #require(outcome.settings)
        #expect(settings.sensors.count == entries)
        #expect(settings.role == .agent || entries == 0)
        #expect(settings.secrets == [Sample.bytes])
    }

    /// So that these tests can fail.
    @Test(arguments: Self.files)
    func aMistakeInAnExampleIsFound(_ file: String) throws {
        let text = try Self.text(file)
        let wrong = text.replacingOccurrences(of: "\nnetwork: ", with: "\nnetwrok: ")
        #expect(wrong != text)
        #expect(Sample.texts(Self.outcome(wrong)).count == 1)
    }

    /// On a machine where nothing was made yet, nothing is missing but what the comments say.
    @Test(arguments: Self.files)
    func withoutTheSecretOnlyFilesAreMissing(_ file: String) throws {
        let text = try Self.text(file)
        #expect(text.contains("rivulet secret > /etc/rivulet/secret"))
        let elsewhere = text.replacingOccurrences(of: ": /etc/rivulet/", with: ": /nowhere/")
        let outcome = CollectorSettings.decode(Array(elsewhere.utf8), file: "f").node
        for message in Sample.texts(outcome) {
            #expect(message.contains("file /nowhere/"))
            #expect(message.contains("No such file or directory"))
        }
    }

    /// The YAML in deploy/sensors.md, and the entries in its tables.
    @Test func whatIsWrittenOfSensorsIsGood() throws {
        let text = try Self.text("../sensors.md")
        let blocks = text.components(separatedBy: "```yaml\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        try #require(!blocks.isEmpty)
        for block in blocks { #expect(Sample.mistakes(block) == []) }
        let entries = text.components(separatedBy: "`").filter {
            $0.hasPrefix("{driver: ") && !$0.contains("…")
        }
        try #require(entries.count >= 5)
        for entry in entries { #expect(Sample.mistakes("sensors: [\(entry)]") == []) }
    }

    /// All drivers but those for trying out, and all keys that they share.
    @Test func theExamplesShowWhatThereIs() throws {
        let texts = try Self.files.map(Self.text).joined(separator: "\n")
        for driver in SensorSettings.names where driver != "replay" && driver != "power" {
            #expect(texts.contains("driver: \(driver)"), "\(driver)")
        }
        for key in SamplingSettings.keys.map(\.name)
            + SamplingSettings.channelTable.keys.map(\.name)
        {
            #expect(texts.contains("\(key):"), "\(key)")
        }
    }
}
