import Foundation
import Testing

@testable import MultipeerConnectivity

struct PeerListTests {
    private let gabe = MCPeerID(displayName: "Gabe")
    private let jeff = MCPeerID(displayName: "Jeff")

    @Test func listsWhoIsFoundAndNotWhoIsLost() {
        var list = Self.list()
        list.find(gabe)
        list.find(jeff)
        list.find(gabe)
        #expect(list.rows.map(\.peer) == [gabe, jeff])
        list.lose(gabe)
        #expect(list.rows.map(\.peer) == [jeff])
        list.lose(gabe)
        #expect(list.chosen == 0)
    }

    @Test func arrowsChooseAndEnterInvites() {
        var list = Self.list()
        #expect(list.handle(.enter) == nil)
        list.find(gabe)
        list.find(jeff)
        _ = list.handle(.down)
        _ = list.handle(.down)
        #expect(list.chosen == 1)
        #expect(list.handle(.enter) == .invite(jeff))
        #expect(list.rows[1].standing == .invited)
        #expect(list.handle(.enter) == nil)
        _ = list.handle(.up)
        _ = list.handle(.up)
        #expect(list.handle(.enter) == .invite(gabe))
    }

    @Test func doneIsThereWhenEnoughAreConnected() {
        var list = Self.list(minimum: 3)
        list.find(gabe)
        list.find(jeff)
        list.change(gabe, to: .connecting)
        list.change(gabe, to: .connected)
        #expect(!list.canFinish)
        #expect(list.handle(.character("d")) == nil)
        list.change(jeff, to: .connected)
        #expect(list.canFinish)
        #expect(list.handle(.character("d")) == .finish)
        list.change(jeff, to: .notConnected)
        #expect(list.handle(.character("d")) == nil)
        #expect(list.handle(.character("c")) == .cancel)
        #expect(list.handle(.interrupt) == .cancel)
    }

    @Test func nobodyIsInvitedBeyondTheMaximum() {
        var list = Self.list(maximum: 2)
        list.find(gabe)
        list.find(jeff)
        #expect(list.handle(.enter) == .invite(gabe))
        _ = list.handle(.down)
        #expect(list.handle(.enter) == nil)
        list.change(gabe, to: .notConnected)
        #expect(list.rows[0].standing == .declined)
        #expect(list.handle(.enter) == .invite(jeff))
    }

    @Test func memberThatIsNotNearbyStaysUntilItIsGone() {
        var list = Self.list()
        list.change(gabe, to: .connected)
        #expect(list.rows.map(\.standing) == [.connected])
        list.find(gabe)
        list.lose(gabe)
        #expect(list.rows.count == 1)
        list.change(gabe, to: .notConnected)
        #expect(list.rows.isEmpty)
    }

    @Test func questionIsAnsweredBeforeAnythingElse() {
        var list = Self.list()
        list.find(gabe)
        list.question = "Jeff wants to connect with you. Accept?"
        #expect(list.handle(.enter) == nil)
        #expect(list.handle(.character("y")) == .answer(true))
        #expect(list.handle(.character("n")) == .answer(false))
        #expect(list.handle(.interrupt) == .cancel)
        let lines = list.lines(columns: 80, rows: 24)
        #expect(lines[22] == " Jeff wants to connect with you. Accept?")
        #expect(lines[23] == " y Accept   n Decline")
    }

    @Test func fillsTheScreenAndNoMore() {
        var list = Self.list()
        for number in 0..<40 { list.find(MCPeerID(displayName: "peer \(number)")) }
        list.find(MCPeerID(displayName: String(repeating: "長", count: 20)))
        for _ in 0..<40 { _ = list.handle(.down) }
        let lines = list.lines(columns: 40, rows: 12)
        #expect(lines.count == 12)
        #expect(lines.contains { $0.hasPrefix(" ▸ 長") })
        #expect(lines.allSatisfy { $0.count <= 40 })
    }

    @Test func showsHowEachStands() {
        var list = Self.list()
        list.find(gabe)
        list.find(jeff)
        list.change(jeff, to: .connected)
        let lines = list.lines(columns: 60, rows: 10)
        #expect(lines[0] == " txt-chat: who is nearby")
        #expect(lines[2].hasPrefix(" ▸ Gabe"))
        #expect(lines[3].hasPrefix("   Jeff"))
        #expect(lines[3].hasSuffix("connected"))
        #expect(lines[8] == " 2 of 8 in the session, enough of them")
        #expect(lines[9].contains("d Done"))
    }

    @Test func nameDoesNotReachTheTerminalWithControlCharacters() {
        var list = Self.list()
        list.find(MCPeerID(displayName: "\u{1b}[2Jevil"))
        #expect(!list.lines(columns: 60, rows: 10).joined().contains("\u{1b}"))
    }

    @Test func keysAreTakenApart() {
        #expect(KeyPress.keys([0x1b, 0x5b, 0x41, 0x1b, 0x5b, 0x42]) == [.up, .down])
        #expect(KeyPress.keys([0x1b, 0x4f, 0x42, 0x0d]) == [.down, .enter])
        #expect(KeyPress.keys([0x1b]) == [.escape])
        #expect(KeyPress.keys([0x03]) == [.interrupt])
        #expect(KeyPress.keys(Array("dY".utf8)) == [.character("d"), .character("y")])
        // Delete, F5, and a sequence that was cut: nothing that the list knows.
        #expect(KeyPress.keys(Array("\u{1b}[3~\u{1b}[15~\u{1b}[".utf8)).isEmpty)
    }

    private static func list(minimum: Int = 2, maximum: Int = 8) -> PeerList {
        PeerList(
            title: "txt-chat", minimumNumberOfPeers: minimum, maximumNumberOfPeers: maximum)
    }
}
