import Foundation
import Testing

@testable import MultipeerConnectivity
@testable import Nearby

/// Messages to several peers, of which one is slow, gone or named twice.
@Suite(.serialized) struct ReliableMessagesTests {
    @Test func whoHasJustLeftSilencesNobody() async throws {
        let (gabe, jeff) = await Person.connectedPair()
        let (session, messages) = (try gabe.session.open(), ReliableMessages())
        // So long that for Jeff there is no room behind it.
        try messages.send([UInt8](repeating: 7, count: 6 << 20), to: [jeff.peer.peer], in: session)
        let gone = MCPeerID(displayName: "Anna").peer
        try? messages.handOver(Array("both".utf8), to: [jeff.peer.peer, gone], in: session)
        try messages.send(Array("end".utf8), to: [jeff.peer.peer], in: session)
        await jeff.waits { $0.messages == ["6291456 bytes", "both", "end"] }
        gabe.leaves()
        jeff.leaves()
    }

    @Test func whoIsNamedTwiceGetsItOnce() async throws {
        let (gabe, jeff) = await Person.connectedPair()
        try gabe.session.send(
            Data("once".utf8), toPeers: [jeff.peer, jeff.peer], with: .reliable)
        try gabe.session.send(Data("end".utf8), toPeers: [jeff.peer], with: .reliable)
        await jeff.waits { $0.messages.last == "end" }
        #expect(jeff.notes.messages == ["once", "end"])
        gabe.leaves()
        jeff.leaves()
    }

    @Test func messagesWithoutBytesFillTheQueueToo() async throws {
        let (gabe, jeff) = await Person.connectedPair()
        let session = try gabe.session.open()
        let messages = ReliableMessages(queuedBytesMax: 1_000)
        session.holdsBack(jeff, true)
        for _ in 0..<7 { try messages.send([], to: [jeff.peer.peer], in: session) }
        #expect(
            SessionTests.code { try messages.send([], to: [jeff.peer.peer], in: session) }
                == .unavailable)
        session.holdsBack(jeff, false)
        await jeff.waits { $0.messages.count == 7 }
        gabe.leaves()
        jeff.leaves()
    }
}

/// Programs that tell their position all the time leave the session when a call throws.
@Suite(.serialized) struct UnreliableMessagesTests {
    @Test func reliableMessagesThatWaitMakeNoneThrow() async throws {
        let (gabe, jeff) = await Person.connectedPair()
        try gabe.session.send(Data(count: 6 << 20), toPeers: [jeff.peer], with: .reliable)
        for _ in 0..<100 {
            try gabe.session.send(Data("here".utf8), toPeers: [jeff.peer], with: .unreliable)
            try gabe.session.send(Data(count: 2_000), toPeers: [jeff.peer], with: .unreliable)
            try await Task.sleep(for: .milliseconds(5))
        }
        await jeff.waits { $0.messages.contains("here") }
        await jeff.waits { $0.messages.contains("6291456 bytes") }
        gabe.leaves()
        jeff.leaves()
    }

    @Test func whoIsSlowTakesThemFromNoOther() async throws {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        let anna = Person("Anna", service: service)
        await gabe.joins(jeff)
        await gabe.joins(anna)
        await gabe.waits { _ in gabe.session.connectedPeers.count == 2 }
        let session = try gabe.session.open()
        session.holdsBack(jeff, true)
        // One that is sent as a reliable one, because it is long.
        try gabe.session.send(
            Data(count: 2_000), toPeers: [jeff.peer, anna.peer], with: .unreliable)
        await anna.waits { $0.messages == ["2000 bytes"] }
        session.holdsBack(jeff, false)
        try gabe.session.send(Data("end".utf8), toPeers: [jeff.peer], with: .reliable)
        await jeff.waits { $0.messages.last == "end" }
        #expect(jeff.notes.messages == ["end"])
        for person in [gabe, jeff, anna] { person.leaves() }
    }

    @Test func whatCanNeverBeSentStillThrows() async {
        let (gabe, jeff) = await Person.connectedPair()
        let stranger = MCPeerID(displayName: "Anna")
        let attempts: [(Int, [MCPeerID], MCError.Code)] = [
            (8 << 20, [jeff.peer], .invalidParameter), (1, [], .invalidParameter),
            (1, [jeff.peer, stranger], .notConnected),
        ]
        for (count, peers, code) in attempts {
            #expect(
                SessionTests.code {
                    try gabe.session.send(Data(count: count), toPeers: peers, with: .unreliable)
                } == code)
        }
        gabe.leaves()
        jeff.leaves()
    }
}

extension Person {
    static func connectedPair() async -> (Person, Person) {
        let service = Person.someService
        let (gabe, jeff) = (Person("Gabe", service: service), Person("Jeff", service: service))
        await gabe.joins(jeff)
        return (gabe, jeff)
    }
}

extension Session {
    /// As if the person's program were slow to take its messages.
    fileprivate func holdsBack(_ person: Person, _ isHeld: Bool) {
        opened.room.hold(person.peer.peer.id, in: opened.number, isHeld)
    }
}
