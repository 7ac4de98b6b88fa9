import Foundation
import NearbyCore
import Testing

@testable import Nearby

extension LoopbackTests {
    @Test func aFileWaitsWhereTheSessionWantsItAndItsRestIsAskedFor() async throws {
        let transfer = try await ResumedTransfer(byteCount: 1_000_000)
        defer { transfer.end() }
        let file = try await within(.seconds(20)) { try await transfer.incoming.file() }
        #expect(file.hasPrefix(transfer.folder + "/"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == transfer.content)
        try await within(.seconds(10)) { try await transfer.outgoing.finished() }
        #expect(transfer.outgoing.resumedAt == 300_000)
    }

    @Test func aCancelledFileKeepsThePartOfAnEarlierAttempt() async throws {
        let transfer = try await ResumedTransfer(byteCount: 50_000_000)
        defer { transfer.end() }
        #expect(try await eventually { transfer.incoming.current.completed > 400_000 })
        transfer.incoming.cancel(keepingPart: true)
        await #expect(throws: NearbyError.self) {
            try await within(.seconds(10)) { try await transfer.outgoing.finished() }
        }
        let part = URL(fileURLWithPath: transfer.part)
        #expect(try await eventually { (try? Data(contentsOf: part))?.count == 300_000 })
    }

    @Test func aFolderThatCannotBeIsAnErrorOnBothSides() async throws {
        let service = try Self.service()
        let (anna, bert) = (try Program("Anna", service), try Program("Bert", service))
        defer { for program in [anna, bert] { program.stop() } }
        let session = try Session(peer: bert.peer, partialFilesIn: "/dev/null/files")
        let accepting = Task { [invitations = bert.advertiser.invitations] in
            for await invitation in invitations { try? invitation.accept(with: session) }
        }
        defer { accepting.cancel() }
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, _) = try await anna.find("Bert")
        try await anna.browser.invite(peer, to: anna.session, timeout: .seconds(10))
        let sending = try anna.session.sendResource(
            file: "/etc/passwd", named: "data", to: peer)
        let error = await failure {
            try await within(.seconds(10)) { try await sending.finished() }
        }
        #expect(error?.code == .unavailable)
        #expect(error?.description.contains("cannot write the file") == true)
        let told = try await within(.seconds(10)) { () -> NearbyError? in
            for await case .failure(_, let error) in session.events { return error }
            return nil
        }
        #expect(told?.code == .unavailable)
        #expect(told?.description.contains("/dev/null/files") == true)
        session.disconnect()
    }

    @Test func aPeerKnowsWhetherItIsOursAndCanBeRenamed() throws {
        let own = try Peer(displayName: "north")
        #expect(own.isOwn)
        let renamed = try own.renamed("south")
        #expect(renamed.isOwn && renamed == own && renamed.displayName == "south")
        #expect(!Peer(displayName: "north", id: own.id).isOwn)
        #expect(throws: NearbyError.self) { try own.renamed("") }
    }
}

/// A file on its way from Anna to Bert, who has 300,000 bytes of it from an earlier attempt.
private struct ResumedTransfer {
    let folder = NSTemporaryDirectory() + "nearby-partial-\(UInt64.random(in: 0...UInt64.max))"
    let content: Data
    /// Where Bert has the bytes.
    let part: String
    let outgoing: OutgoingResource
    let incoming: IncomingResource
    private let programs: [Program]
    private let session: Session
    private let accepting: Task<Void, Never>

    init(byteCount: Int) async throws {
        let service = try LoopbackTests.service()
        let (anna, bert) = (try Program("Anna", service), try Program("Bert", service))
        programs = [anna, bert]
        let session = try Session(peer: bert.peer, partialFilesIn: folder)
        self.session = session
        accepting = Task { [invitations = bert.advertiser.invitations] in
            for await invitation in invitations { try? invitation.accept(with: session) }
        }
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, _) = try await anna.find("Bert")
        try await anna.browser.invite(peer, to: anna.session, timeout: .seconds(10))
        content = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 * 7 >> 3) })
        let path = folder + "-sent"
        try content.write(to: URL(fileURLWithPath: path))
        let key = try OpenedFile(path).key.map { String(format: "%02x", $0) }.joined()
        part = "\(folder)/\(anna.peer.id)-\(key).part"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try content.prefix(300_000).write(to: URL(fileURLWithPath: part))
        outgoing = try anna.session.sendResource(file: path, named: "data", to: peer)
        let incoming = try await within(.seconds(10)) { () -> IncomingResource? in
            for await case .resource(let resource) in session.events { return resource }
            return nil
        }
        self.incoming = try #require(incoming)
        #expect(self.incoming.resumedAt == 300_000)
    }

    func end() {
        session.disconnect()
        accepting.cancel()
        for program in programs { program.stop() }
        for path in [folder, folder + "-sent"] { try? FileManager.default.removeItem(atPath: path) }
    }
}
