import Configuration
import Testing

@testable import Setup

struct DialogueTests {
    private func dialogue(_ wish: NodeWish = NodeWish(), joins: Bool = false) -> Dialogue {
        Dialogue(wish, joins: joins)
    }

    /// Complaints, and what came of it.
    private func answer(_ dialogue: inout Dialogue, _ lines: String...) -> [String?] {
        lines.map { dialogue.answer($0) }
    }

    @Test func emptyLinesGiveAnAgent() {
        var dialogue = dialogue()
        #expect(answer(&dialogue, "", "", "", "", "") == [nil, nil, nil, nil, nil])
        #expect(dialogue.outcome == .agreed)
        #expect(dialogue.wish.network == "rivulet")
        #expect(dialogue.wish.role == .agent)
        #expect(dialogue.wish.name == nil)
    }

    @Test func answersAreTaken() {
        var dialogue = dialogue()
        _ = answer(&dialogue, "n", " greenhouse ", "collector", "Büro", "y")
        #expect(dialogue.outcome == .agreed)
        #expect(dialogue.wish.network == "greenhouse")
        #expect(dialogue.wish.role == .collector)
        #expect(dialogue.wish.name == "Büro")
    }

    @Test func aWrongAnswerIsAskedForAgain() {
        var dialogue = dialogue()
        #expect(dialogue.answer("perhaps") != nil)
        #expect(dialogue.answer("no") == nil)
        let network = dialogue.prompt
        #expect(dialogue.answer("Green House") != nil)
        #expect(dialogue.prompt == network)
        #expect(dialogue.answer("green") == nil)
        #expect(dialogue.answer("colector") == "did you mean collector?")
        #expect(dialogue.answer("relay") == nil)
        #expect(dialogue.answer(String(repeating: "x", count: 64)) != nil)
        #expect(dialogue.answer("a\u{1b}b") != nil)
        #expect(dialogue.answer("x") == nil)
        #expect(dialogue.prompt.contains("the relay x in network green?"))
        #expect(dialogue.outcome == .open)
    }

    @Test func aNetworkThatIsThereIsJoined() {
        var dialogue = dialogue()
        #expect(dialogue.answer("y") == nil)
        #expect(dialogue.outcome == .joins)
    }

    @Test func whatWasGivenIsNotAsked() {
        var wish = NodeWish()
        wish.network = "lab"
        wish.name = "x"
        var dialogue = dialogue(wish)
        #expect(dialogue.prompt.hasPrefix("Role"))
        _ = answer(&dialogue, "relay", "n")
        #expect(dialogue.outcome == .refused)
    }
}
