import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct ReferenceTests {
    @Test func theCommittedReferenceIsThatOfTheTables() throws {
        let here = "Tests/ConfigurationTests/ReferenceTests.swift"
        #expect(#filePath.hasSuffix(here))
        let path = #filePath.dropLast(here.utf8.count) + "deploy/configuration.md"
        let text = try SmallFile.read(String(path), limit: 256 * 1_024)
        // Made by `rivulet reference`.
        #expect(String(decoding: text, as: UTF8.self) == CollectorSettings.reference)
    }
}
