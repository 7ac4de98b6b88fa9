import Foundation
import Testing

@testable import CollectorConfiguration
@testable import Configuration

/// What README shows must be good.
struct ReadmeTests {
    @Test func theConfigurationsInREADMEAreGood() throws {
        let here = "Tests/ConfigurationTests/ReadmeTests.swift"
        let readme = try String(
            contentsOfFile: #filePath.dropLast(here.utf8.count) + "README.md", encoding: .utf8)
        let folder = TemporaryFolder()
        let secret = folder.write("secret", Sample.secret + "\n")
        let examples = readme.components(separatedBy: "```yaml\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        try #require(!examples.isEmpty)
        for example in examples {
            var text = example.replacingOccurrences(of: "/etc/rivulet/secret", with: secret)
            // A part of a file, such as its sensors, in the first one's place.
            if !text.contains("secret-file:") { text = "secret-file: \(secret)\n" + text }
            let outcome = CollectorSettings.decode(Array(text.utf8), file: "README.md").node
            #expect(Sample.texts(outcome) == [])
            // Every key is really there: none is left out for being commented.
            let sensors = text.split(separator: "\n").count { $0.contains("driver:") }
            #expect(outcome.settings?.sensors.count == sensors)
        }
    }
}
