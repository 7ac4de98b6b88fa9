import Foundation
import Testing

@testable import MultipeerConnectivity

/// What programs and the world get wrong: an error with MPC's code and a sentence, on every side
/// that it concerns.
@Suite(.serialized) struct BadInputTests {
    @Test func aServiceTypeOfSixteenIsRefusedWithASentence() async {
        let person = Person("Gabe", service: "abcdefghijklmnop")
        person.browser.startBrowsingForPeers()
        await person.waits { !$0.errors.isEmpty }
        #expect(person.notes.errors.first?.code == .invalidParameter)
        let sentence = person.notes.errors.first?.localizedDescription ?? ""
        #expect(sentence.contains("\"abcdefghijklmnop\" is not 1 to 15 characters"))
    }

    @Test func discoveryInfoOfMoreThan400BytesInAllIsRefusedWithASentence() async {
        let info = Dictionary(
            uniqueKeysWithValues: (0..<3).map { ("key\($0)", String(repeating: "x", count: 140)) })
        let person = Person("Gabe", service: "fine", info: info)
        person.advertiser.startAdvertisingPeer()
        await person.waits { !$0.errors.isEmpty }
        #expect(person.notes.errors.first?.code == .invalidParameter)
        #expect(person.notes.errors.first?.localizedDescription.contains("400") == true)
    }

    @Test func aFileThatIsCutOffWhileItIsSentIsAnErrorOnBothSides() async throws {
        let (gabe, jeff) = await Self.connected()
        let file = try Self.file(40_000_000)
        defer { try? FileManager.default.removeItem(at: file) }
        let told = Guarded<[MCError?]>([])
        gabe.session.sendResource(at: file, withName: "big", toPeer: jeff.peer) {
            let error = $0 as? MCError
            told.with { $0.append(error) }
        }
        await jeff.waits { $0.progresses.count == 1 }
        truncate(file.path, 1_000)
        await gabe.waits { _ in told.with { $0.count } == 1 }
        await jeff.waits { $0.contents.count == 1 }
        let error = try #require(told.with { $0.first ?? nil })
        #expect(error.code == .unavailable)
        #expect(!error.localizedDescription.isEmpty)
        #expect(jeff.notes.errors.map(\.code) == [.unavailable])
        #expect(jeff.notes.contents == [nil])
        Self.part(gabe, jeff)
    }

    @Test func aFileThatIsRemovedWhileItIsSentArrivesWhole() async throws {
        let (gabe, jeff) = await Self.connected()
        let file = try Self.file(4_000_000)
        gabe.session.sendResource(at: file, withName: "big", toPeer: jeff.peer)
        await jeff.waits { $0.progresses.count == 1 }
        try FileManager.default.removeItem(at: file)
        await jeff.waits { $0.contents.count == 1 }
        #expect(jeff.notes.contents.first??.count == 4_000_000)
        Self.part(gabe, jeff)
    }

    @Test func aWebAddressThatAnswers404TellsTheSender() async throws {
        let (gabe, jeff) = await Self.connected()
        let server = try WebServer(status: "404 Not Found", body: "no")
        let told = Guarded<[MCError?]>([])
        gabe.session.sendResource(at: server.url, withName: "page", toPeer: jeff.peer) {
            let error = $0 as? MCError
            told.with { $0.append(error) }
        }
        await gabe.waits { _ in told.with { $0.count } == 1 }
        let error = try #require(told.with { $0.first ?? nil })
        #expect(error.code == .unavailable)
        #expect(error.localizedDescription.contains("404"))
        #expect(jeff.notes.resources.isEmpty)
        Self.part(gabe, jeff)
    }

    private static func connected() async -> (Person, Person) {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        return (gabe, jeff)
    }

    private static func part(_ gabe: Person, _ jeff: Person) {
        gabe.leaves()
        jeff.leaves()
    }

    private static func file(_ count: Int) throws -> URL {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("bad-input-\(UUID().uuidString)")
        try Data().write(to: url)
        truncate(url.path, off_t(count))
        return url
    }
}
