import Foundation
import Testing

/// What the fuzzers were fed and found, again (Tests/fuzz.sh): a trap ends the whole run.
struct CorpusTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Corpus")

    private func inputs(_ name: String) -> [[UInt8]] {
        let folder = Self.folder.appendingPathComponent(name)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap {
            (try? Data(contentsOf: folder.appendingPathComponent($0))).map(Array.init)
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name)) func theCorpusIsBorne(_ name: String) throws {
        let target = try #require(FuzzTarget(named: name))
        let corpus = inputs(name)
        #expect(!corpus.isEmpty, "Tests/FuzzTests/Corpus/\(name) is empty")
        for bytes in corpus {
            target.run(bytes)
            // Its neighbours: cut off anywhere, and each byte another.
            for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 64)) {
                target.run(Array(bytes[..<length]))
                var other = bytes
                other[length] = ~other[length]
                target.run(other)
            }
        }
    }

    @Test func everyCorpusHasATarget() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        for name in folders { #expect(FuzzTarget(named: name) != nil, "\(name)") }
    }
}
