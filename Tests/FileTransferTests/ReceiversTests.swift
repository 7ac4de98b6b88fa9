import Nearby
import Testing

@testable import FileTransfer

struct ReceiversTests {
    private let info = FileService.info

    private func peer(_ name: String, _ number: UInt64) -> Peer {
        Peer(displayName: name, id: PeerID(high: number, low: 0))
    }

    @Test func theOneOfThatNameIsMeant() {
        var receivers = Receivers()
        receivers.found(peer("north", 1), info: info)
        receivers.found(peer("south", 2), info: info)
        #expect(receivers.choice(for: "south") == .one(peer("south", 2)))
        #expect(receivers.choice(for: "east") == .nobody)
        receivers.lost(peer("south", 2))
        #expect(receivers.choice(for: "south") == .nobody)
    }

    @Test func ofTwoOfOneNameThePeerIDDecides() {
        var receivers = Receivers()
        receivers.found(peer("north", 2), info: info)
        receivers.found(peer("north", 1), info: info)
        #expect(receivers.choice(for: "north") == .several([peer("north", 1), peer("north", 2)]))
        let id = peer("", 2).id.description
        #expect(receivers.choice(for: id) == .one(peer("north", 2)))
    }

    @Test func whoDoesNotReceiveIsNotMeant() {
        var receivers = Receivers()
        receivers.found(peer("north", 1), info: ["room": "2"])
        #expect(receivers.choice(for: "north") == .other(peer("north", 1)))
        receivers.found(peer("north", 2), info: info)
        #expect(receivers.choice(for: "north") == .one(peer("north", 2)))
    }

    @Test func thoseWithinReachComeBeforeThoseBehindRelays() {
        var receivers = Receivers()
        receivers.found(behindRelays: [peer("north", 1), peer("west", 3)])
        #expect(receivers.choice(for: "north") == .one(peer("north", 1)))
        receivers.found(peer("north", 2), info: info)
        #expect(receivers.choice(for: "north") == .one(peer("north", 2)))
        receivers.found(behindRelays: [])
        #expect(receivers.choice(for: "west") == .nobody)
    }

    @Test func nearNamesAreOffered() {
        var receivers = Receivers()
        #expect(receivers.advice(for: "north").contains("rivulet receive"))
        receivers.found(peer("north", 1), info: info)
        #expect(receivers.advice(for: "nroth") == "did you mean north?")
    }
}

struct RemarkTests {
    @Test(arguments: [Remark.stored("a (2).txt"), .refused("no room"), .stored("")])
    func returnsWhatItWrote(_ remark: Remark) {
        #expect(Remark(parsing: remark.bytes) == remark)
    }

    @Test func isBoundedAndIgnoresWhatItDoesNotKnow() {
        #expect(Remark(parsing: []) == nil)
        #expect(Remark(parsing: [3, 65]) == nil)
        #expect(Remark(parsing: [1] + [UInt8](repeating: 65, count: 1_025)) == nil)
        #expect(Remark.refused(String(repeating: "x", count: 5_000)).bytes.count == 1_025)
        // No UTF-8: readable all the same.
        #expect(Remark(parsing: [2, 0xff]) == .refused("\u{fffd}"))
    }
}
