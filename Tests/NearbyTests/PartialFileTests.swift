import Foundation
import NearbyCore
import Testing

@testable import Nearby

extension LoopbackTests {
    @Test func aFileWaitsWhereTheSessionWantsItAndItsRestIsAskedFor() async throws {
        let folder = NSTemporaryDirectory() + "nearby-partial-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let service = try Self.service()
        let (anna, bert) = (try Program("Anna", service), try Program("Bert", service))
        defer { for program in [anna, bert] { program.stop() } }
        let session = try Session(peer: bert.peer, partialFilesIn: folder)
        let accepting = Task { [invitations = bert.advertiser.invitations] in
            for await invitation in invitations { try? invitation.accept(with: session) }
        }
        defer { accepting.cancel() }
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, _) = try await anna.find("Bert")
        try await anna.browser.invite(peer, to: anna.session, timeout: .seconds(10))

        // An earlier attempt came as far as this.
        let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 * 7 >> 3) })
        let path = folder + "-sent"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try content.write(to: URL(fileURLWithPath: path))
        let key = try OpenedFile(path).key.map { String(format: "%02x", $0) }.joined()
        let part = "\(folder)/\(anna.peer.id)-\(key).part"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try content.prefix(300_000).write(to: URL(fileURLWithPath: part))

        let sending = try anna.session.sendResource(file: path, named: "data", to: peer)
        let incoming = try await within(.seconds(10)) { () -> IncomingResource? in
            for await case .resource(let resource) in session.events { return resource }
            return nil
        }
        let resource = try #require(incoming)
        #expect(resource.resumedAt == 300_000)
        let file = try await within(.seconds(20)) { try await resource.file() }
        #expect(file.hasPrefix(folder + "/"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == content)
        try await within(.seconds(10)) { try await sending.finished() }
        #expect(sending.resumedAt == 300_000)
        session.disconnect()
    }

    @Test func whatIsGivenBackLeavesWhatWasThereBefore() async throws {
        let folder = NSTemporaryDirectory() + "nearby-partial-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let service = try Self.service()
        let (anna, bert) = (try Program("Anna", service), try Program("Bert", service))
        defer { for program in [anna, bert] { program.stop() } }
        let session = try Session(peer: bert.peer, partialFilesIn: folder)
        let accepting = Task { [invitations = bert.advertiser.invitations] in
            for await invitation in invitations { try? invitation.accept(with: session) }
        }
        defer { accepting.cancel() }
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, _) = try await anna.find("Bert")
        try await anna.browser.invite(peer, to: anna.session, timeout: .seconds(10))

        // An earlier attempt came as far as this.
        let content = Data((0..<50_000_000).map { UInt8(truncatingIfNeeded: $0 * 7 >> 3) })
        let path = folder + "-sent"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try content.write(to: URL(fileURLWithPath: path))
        let key = try OpenedFile(path).key.map { String(format: "%02x", $0) }.joined()
        let part = "\(folder)/\(anna.peer.id)-\(key).part"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try content.prefix(300_000).write(to: URL(fileURLWithPath: part))

        let sending = try anna.session.sendResource(file: path, named: "data", to: peer)
        let incoming = try await within(.seconds(10)) { () -> IncomingResource? in
            for await case .resource(let resource) in session.events { return resource }
            return nil
        }
        let resource = try #require(incoming)
        #expect(resource.resumedAt == 300_000)
        #expect(try await eventually { resource.current.completed > 400_000 })
        resource.giveBack()
        await #expect(throws: NearbyError.self) {
            try await within(.seconds(10)) { try await sending.finished() }
        }
        #expect(
            try await eventually {
                (try? Data(contentsOf: URL(fileURLWithPath: part)))?.count == 300_000
            })
        session.disconnect()
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
