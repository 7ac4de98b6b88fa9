import Foundation
import Testing

@testable import MultipeerConnectivity
@testable import Nearby
@testable import NearbyTransfers

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
        let told = gabe.sends(file, as: "big", to: jeff)
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
        let told = gabe.sends(server.url, as: "page", to: jeff)
        await gabe.waits { _ in told.with { $0.count } == 1 }
        let error = try #require(told.with { $0.first ?? nil })
        #expect(error.code == .unavailable)
        #expect(error.localizedDescription.contains("404"))
        #expect(jeff.notes.resources.isEmpty)
        Self.part(gabe, jeff)
    }

    @Test func aMessageThatIsTooLargeIsRefusedAndTakesNoneWithIt() async throws {
        let (gabe, jeff) = await Self.connected()
        let message = Data(repeating: 7, count: 500_000)
        for _ in 0..<20 { try gabe.session.send(message, toPeers: [jeff.peer], with: .reliable) }
        for count in [8 << 20, 64 << 20] {
            let error = Self.error {
                try gabe.session.send(Data(count: count), toPeers: [jeff.peer], with: .reliable)
            }
            #expect(error?.code == .invalidParameter)
            #expect(error?.localizedDescription.contains("use a stream or a resource") == true)
        }
        try gabe.session.send(Data("end".utf8), toPeers: [jeff.peer], with: .reliable)
        await jeff.waits { $0.messages.last == "end" }
        #expect(jeff.notes.messages.count == 21)
        Self.part(gabe, jeff)
    }

    /// What may wait for one peer is bounded; the sender is told, and loses nobody.
    @Test func messagesBeyondTheQueueAreRefusedWithASentence() async throws {
        let (gabe, jeff) = await Self.connected()
        let message = Data(repeating: 7, count: 7_000_000)
        var error: MCError?
        for _ in 0..<40 where error == nil {
            error = Self.error {
                try gabe.session.send(message, toPeers: [jeff.peer], with: .reliable)
            }
        }
        #expect(error?.code == .unavailable)
        #expect(error?.localizedDescription.contains("send more slowly") == true)
        #expect(gabe.session.connectedPeers == [jeff.peer])
        Self.part(gabe, jeff)
    }

    @Test func whoIsAskedAndSaysNothingIsNotWaitedForLonger() async {
        let service = Person.someService
        let gabe = Person("Gabe", service: service)
        let jeff = Person("Jeff", service: service, isSilent: true)
        let told = Guarded<[MCError]>([])
        gabe.session.failureHandler = { @Sendable _, error in told.with { $0.append(error) } }
        jeff.advertiser.startAdvertisingPeer()
        gabe.browser.startBrowsingForPeers()
        await gabe.waits { $0.found[jeff.peer] != nil }
        gabe.browser.invitePeer(jeff.peer, to: gabe.session, withContext: nil, timeout: 5)
        await jeff.waits { $0.invitations.count == 1 }
        await gabe.waits { $0.states.last == .notConnected }
        #expect(told.with { $0.map(\.code) } == [.timedOut])
        #expect(told.with { $0.first?.localizedDescription.isEmpty } == false)
        Self.part(gabe, jeff)
    }

    /// A member that sends more than it offered: whoever receives gives up, and tells both sides.
    @Test func aMemberThatLiesAboutASizeIsCaught() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        let file = try Self.file(40_000_000)
        defer { try? FileManager.default.removeItem(at: file) }
        let told = gabe.sends(file, as: "big", to: jeff)
        await jeff.waits { $0.progresses.count == 1 }
        // Past Gabe's own session, which would not say so: a byte behind the end.
        let lie = TransferPacket(
            lane: .bulk, number: 1 << 30,
            frames: [
                .data(.init(.resource, 0), offset: 40_000_000, [1], isLast: false)
            ])
        let linked = LinkedCollectors(
            own: try OwnPeer(gabe.peer.peer), service: try Service(service))
        for _ in 0..<3 where linked.begin() {
            try Background.shared.post(
                .tellCollector(lie.bytes, to: jeff.peer.peer.id, linked, isReliable: false))
        }
        await jeff.waits { $0.contents.count == 1 }
        await gabe.waits { _ in told.with { $0.count } == 1 }
        #expect(jeff.notes.contents == [nil])
        #expect(jeff.notes.errors.map(\.code) == [.unavailable])
        #expect(
            jeff.notes.errors.first?.localizedDescription
                .contains("did not keep to what it had announced") == true)
        #expect(told.with { $0.first??.code } == .unavailable)
        Self.part(gabe, jeff)
    }

    // Both in a process of their own: one ends, and the other has a limit for all its files.
    #if compiler(>=6.2)
        @Test func aNameOf64BytesEndsTheProgramWithASentence() async throws {
            let result = try await #require(
                processExitsWith: .failure, observing: [\.standardErrorContent]
            ) {
                _ = MCPeerID(displayName: String(repeating: "x", count: 64))
            }
            let text = String(decoding: result.standardErrorContent, as: UTF8.self)
            #expect(text.contains("MCPeerID(displayName:)"))
            #expect(text.contains("63 bytes"))
        }

        @Test func aDiskThatIsFullAtTheReceiverIsAnErrorOnBothSides() async {
            await #expect(processExitsWith: .success) { try await Self.sendToAFullDisk() }
        }
    #endif

    /// No file of this process grows beyond a megabyte, as on a disk that is full then.
    private static func sendToAFullDisk() async throws {
        let file = try Self.file(3_000_000)
        defer { try? FileManager.default.removeItem(at: file) }
        let (gabe, jeff) = await Self.connected()
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        let told = gabe.sends(file, as: "big", to: jeff)
        await gabe.waits { _ in told.with { $0.count } == 1 }
        await jeff.waits { $0.contents.count == 1 }
        let error = try #require(told.with { $0.first ?? nil })
        #expect(error.code == .unavailable)
        #expect(error.localizedDescription.contains("its disk may be full"))
        #expect(jeff.notes.errors.map(\.code) == [.unavailable])
        #expect(jeff.notes.contents == [nil])
        #expect(gabe.session.connectedPeers == [jeff.peer])
        Self.part(gabe, jeff)
    }

    private static func error(_ body: () throws -> Void) -> MCError? {
        do {
            try body()
            return nil
        } catch {
            return error as? MCError
        }
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
