import Foundation
import Testing

@testable import MultipeerConnectivity

struct NamedFileTests {
    @Test func fileHasTheNameOfItsResourceAndGoes() throws {
        let path = try Self.someFile()
        var file: NamedFile? = NamedFile(path, named: "photo.jpg")
        let url = try #require(file?.url)
        #expect(url.lastPathComponent == "photo.jpg")
        #expect(try String(contentsOf: url, encoding: .utf8) == "hello")
        #expect(!FileManager.default.fileExists(atPath: path))
        file = nil
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(!FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path))
    }

    @Test func nameThatNoFileCanHaveLeavesItWhereItIs() throws {
        let path = try Self.someFile()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let long = String(repeating: "x", count: 300)
        // A slash with an accent behind it is one character, and a part of a path all the same.
        for name in [long, "../a", "../\u{301}a", "", ".", "..", "a\u{0}b"] {
            let file = NamedFile(path, named: name)
            #expect(file.url.path == path)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "hello")
        #expect(!FileManager.default.fileExists(atPath: path + ".named"))
    }

    @Test func delegateMovesTheFileByItsName() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        let receiver = Receiver()
        jeff.session.delegate = receiver
        let path = try Self.someFile()
        defer { try? FileManager.default.removeItem(atPath: path) }
        gabe.session.sendResource(
            at: URL(fileURLWithPath: path), withName: "holiday film.mp4", toPeer: jeff.peer)
        await jeff.waits { _ in receiver.kept.with { $0 != nil } }
        let kept = try #require(receiver.kept.with { $0 })
        defer { try? FileManager.default.removeItem(at: kept) }
        #expect(kept.lastPathComponent.hasSuffix("-holiday film.mp4"))
        #expect(try String(contentsOf: kept, encoding: .utf8) == "hello")
        gabe.leaves()
        jeff.leaves()
    }

    private static func someFile() throws -> String {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("named-\(UUID().uuidString).part-1")
        try Data("hello".utf8).write(to: file)
        return file.path
    }
}

/// Keeps what comes in a folder of its own, under the name that the URL ends with.
private final class Receiver: SilentDelegate, @unchecked Sendable {
    let kept = Guarded<URL?>(nil)

    override func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        guard let localURL else { return }
        let target = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(UUID().uuidString)-\(localURL.lastPathComponent)")
        try? FileManager.default.moveItem(at: localURL, to: target)
        kept.with { $0 = target }
    }
}
