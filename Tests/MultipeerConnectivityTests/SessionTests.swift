import Foundation
import Testing

@testable import MultipeerConnectivity

/// Two people in one process, with real sockets on the loopback interface.
@Suite(.serialized) struct SessionTests {
    @Test func invitedAndAcceptedTheyAreConnected() async {
        let service = Person.someService
        let (gabe, jeff) = (
            Person("Gabe", service: service),
            Person("Jeff", service: service.uppercased(), info: ["room": "4"])
        )
        await gabe.joins(jeff, context: Data("let me in".utf8))
        await gabe.waits { $0.found[jeff.peer] == .some(["room": "4"]) }
        #expect(gabe.notes.states == [.connecting, .connected])
        #expect(jeff.notes.states == [.connecting, .connected])
        #expect(jeff.notes.invitations.map(\.from) == [gabe.peer])
        #expect(jeff.notes.invitations.map(\.context) == [Data("let me in".utf8)])
        #expect(gabe.session.connectedPeers == [jeff.peer])
        #expect(jeff.session.connectedPeers.map(\.displayName) == ["Gabe"])
        gabe.leaves()
        await jeff.waits { $0.states.last == .notConnected }
        #expect(jeff.session.connectedPeers.isEmpty)
        jeff.leaves()
    }

    @Test func messagesArriveInOrderAndOnce() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        for number in 0..<300 {
            try gabe.session.send(
                Data("\(number)".utf8), toPeers: gabe.session.connectedPeers, with: .reliable)
        }
        try jeff.session.send(Data("so so".utf8), toPeers: [gabe.peer], with: .unreliable)
        await jeff.waits { $0.messages.count == 300 }
        await gabe.waits { $0.messages == ["so so"] }
        #expect(jeff.notes.messages == (0..<300).map(String.init))
        gabe.leaves()
        jeff.leaves()
    }

    /// More than the session below takes at once: it waits in the queue.
    @Test func sendingReturnsAtOnce() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        let message = Data(repeating: 7, count: 500_000)
        for _ in 0..<24 {
            try gabe.session.send(message, toPeers: [jeff.peer], with: .reliable)
        }
        try gabe.session.send(Data("end".utf8), toPeers: [jeff.peer], with: .reliable)
        await jeff.waits { $0.messages.count == 25 }
        #expect(jeff.notes.messages == Array(repeating: "500000 bytes", count: 24) + ["end"])
        gabe.leaves()
        jeff.leaves()
    }

    @Test func whoDeclinesIsNotConnected() async {
        let service = Person.someService
        let gabe = Person("Gabe", service: service)
        let jeff = Person("Jeff", service: service, isWilling: false)
        jeff.advertiser.startAdvertisingPeer()
        gabe.browser.startBrowsingForPeers()
        await gabe.waits { $0.found[jeff.peer] != nil }
        gabe.browser.invitePeer(jeff.peer, to: gabe.session, withContext: nil, timeout: 20)
        await gabe.waits { $0.states.last == .notConnected }
        #expect(gabe.session.connectedPeers.isEmpty)
        #expect(jeff.notes.states.isEmpty)
        jeff.advertiser.stopAdvertisingPeer()
        await gabe.waits { $0.lost == [jeff.peer] }
        gabe.leaves()
        jeff.leaves()
    }

    @Test func whatCannotBeSentIsToldAtOnce() async throws {
        let (gabe, jeff) = (Person("Gabe", service: "x"), Person("Jeff", service: "x"))
        #expect(
            Self.code { try gabe.session.send(Data(), toPeers: [], with: .reliable) }
                == .invalidParameter)
        for mode in [MCSessionSendDataMode.reliable, .unreliable] {
            #expect(
                Self.code { try gabe.session.send(Data([1]), toPeers: [jeff.peer], with: mode) }
                    == .notConnected)
        }
        #expect(
            Self.code { _ = try gabe.session.startStream(withName: "s", toPeer: jeff.peer) }
                == .notConnected)
        let told = Guarded<[MCError?]>([])
        let progress = gabe.session.sendResource(
            at: URL(fileURLWithPath: "/etc/hostname"), withName: "h", toPeer: jeff.peer
        ) { error in told.with { $0.append(error as? MCError) } }
        #expect(progress == nil)
        await gabe.waits { _ in told.with { $0.count } == 1 }
        #expect(told.with { $0.first??.code } == .notConnected)
    }

    @Test func badNamesOfServicesAreToldToTheDelegate() async {
        let long = Person("Gabe", service: "sixteen-letters-")
        long.browser.startBrowsingForPeers()
        await long.waits { $0.errors.map(\.code) == [.invalidParameter] }
        long.advertiser.startAdvertisingPeer()
        await long.waits { $0.errors.map(\.code) == [.invalidParameter, .invalidParameter] }
        let much = Person(
            "Jeff", service: "fine", info: ["key": String(repeating: "x", count: 300)])
        much.advertiser.startAdvertisingPeer()
        await much.waits { $0.errors.map(\.code) == [.invalidParameter] }
    }

    @Test func connectionDataConnectsWithoutBrowsing() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        let data = try await gabe.session.nearbyConnectionData(forPeer: jeff.peer)
        let answer = try await jeff.session.nearbyConnectionData(forPeer: gabe.peer)
        gabe.session.connectPeer(jeff.peer, withNearbyConnectionData: answer)
        jeff.session.connectPeer(gabe.peer, withNearbyConnectionData: data)
        await gabe.waits { $0.states.last == .connected }
        await jeff.waits { $0.states.last == .connected }
        gabe.session.connectPeer(MCPeerID(displayName: "?"), withNearbyConnectionData: Data([1]))
        await gabe.waits { $0.states.last == .notConnected }
        #expect(gabe.session.connectedPeers == [jeff.peer])
        gabe.leaves()
        jeff.leaves()
    }

    @Test func certificatesAreShownAndDecidedOn() async {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        #expect(gabe.notes.certificates.count == 1)
        #expect(jeff.notes.certificates.count == 1)
        #expect(gabe.notes.certificates.first.flatMap { $0 } == nil)
        gabe.leaves()
        jeff.leaves()
    }

    static func code(_ body: () throws -> Void) -> MCError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? MCError)?.code
        }
    }
}

/// Streams and resources.
@Suite(.serialized) struct SessionTransferTests {
    @Test func streamBringsWhatWasWrittenAndItsEnd() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
        let output = try gabe.session.startStream(withName: "numbers", toPeer: jeff.peer)
        output.open()
        #expect(output.write(bytes, maxLength: bytes.count) == bytes.count)
        output.close()
        await jeff.waits { $0.streams.map(\.name) == ["numbers"] }
        let input = Handed(value: try #require(jeff.notes.streams.first?.stream))
        let received = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.all(of: input.value)) }
        }
        #expect(received == bytes)
        gabe.leaves()
        jeff.leaves()
    }

    @Test func resourceIsThereUntilTheDelegateReturns() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        let content = Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 99) })
        let file = try Self.file(content)
        defer { try? FileManager.default.removeItem(at: file) }
        let told = Guarded<[MCError?]>([])
        let progress = try #require(
            gabe.session.sendResource(at: file, withName: "numbers.bin", toPeer: jeff.peer) {
                let error = $0 as? MCError
                told.with { $0.append(error) }
            })
        #expect(progress.totalUnitCount == 400_000)
        await jeff.waits { $0.contents.count == 1 }
        await gabe.waits { _ in told.with { $0.count } == 1 }
        #expect(jeff.notes.resources == ["started numbers.bin", "finished numbers.bin"])
        #expect(jeff.notes.contents == [content])
        #expect(told.with { $0 } == [nil])
        #expect(progress.completedUnitCount == 400_000)
        #expect(progress.isFinished)
        #expect(jeff.notes.progresses.first?.isFinished == true)
        gabe.leaves()
        jeff.leaves()
    }

    @Test(arguments: [true, false]) func eitherSideCancelsAResource(_ isSender: Bool) async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        let file = try Self.file(Data(repeating: 5, count: 40_000_000))
        defer { try? FileManager.default.removeItem(at: file) }
        let told = Guarded<[MCError?]>([])
        let progress = try #require(
            gabe.session.sendResource(at: file, withName: "big", toPeer: jeff.peer) {
                let error = $0 as? MCError
                told.with { $0.append(error) }
            })
        await jeff.waits { $0.progresses.count == 1 }
        // The program has its own use for it.
        let handled = Guarded(0)
        progress.cancellationHandler = { handled.with { $0 += 1 } }
        if isSender { progress.cancel() } else { jeff.notes.progresses.first?.cancel() }
        await gabe.waits { _ in told.with { $0.count } == 1 }
        await jeff.waits { $0.contents.count == 1 }
        #expect(told.with { $0.first??.code } == .cancelled)
        #expect(handled.with { $0 } == (isSender ? 1 : 0))
        #expect(jeff.notes.errors.map(\.code) == [.cancelled])
        #expect(jeff.notes.contents == [nil])
        gabe.leaves()
        jeff.leaves()
    }

    /// As a button "disconnect" in a list of peers does.
    @Test func whoIsCancelledWhileConnectedIsPartedWithAlone() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        let anna = Person("Anna", service: service)
        await gabe.joins(jeff)
        await gabe.joins(anna)
        await jeff.waits { _ in jeff.session.connectedPeers.contains(anna.peer) }
        gabe.session.cancelConnectPeer(jeff.peer)
        await gabe.waits { _ in gabe.session.connectedPeers == [anna.peer] }
        await jeff.waits { _ in jeff.session.connectedPeers == [anna.peer] }
        try await Task.sleep(for: .seconds(1))
        #expect(gabe.session.connectedPeers == [anna.peer])
        #expect(Set(anna.session.connectedPeers) == [gabe.peer, jeff.peer])
        for person in [gabe, jeff, anna] { person.leaves() }
    }

    @Test func nameWithAPathIsCut() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        let file = try Self.file(Data("x".utf8))
        defer { try? FileManager.default.removeItem(at: file) }
        gabe.session.sendResource(at: file, withName: "../../etc/x", toPeer: jeff.peer)
        await jeff.waits { $0.contents.count == 1 }
        #expect(jeff.notes.resources.allSatisfy { !$0.contains("/") && !$0.contains("..") })
        gabe.leaves()
        jeff.leaves()
    }

    private static func file(_ content: Data) throws -> URL {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("resource-test-\(UUID().uuidString)")
        try content.write(to: file)
        return file
    }

    private static func all(of stream: InputStream) -> [UInt8] {
        stream.open()
        defer { stream.close() }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 10_000)
        while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 {
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}
