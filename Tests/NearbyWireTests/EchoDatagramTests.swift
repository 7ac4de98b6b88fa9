import NearbyCore
import NearbyWire
import Testing
import VectorFile

struct EchoDatagramTests {
    private let token: UInt64 = 0x0102_0304_0506_0708

    @Test func question() throws {
        // What follows the head is only room.
        try expectSound(
            vector: "echo-question", EchoRequest(token: token), emit: \.bytes,
            parse: { try EchoRequest(parsing: $0) }, shortest: EchoAnswer.overheadByteCount)
    }

    @Test func answer() throws {
        try expectSound(
            vector: "echo-answer",
            EchoAnswer(token: token, link: .wifi, name: "nørd", lossPercent: 12),
            emit: \.bytes, parse: { try EchoAnswer(parsing: $0) }, shortest: 16)
    }

    @Test func anEarlierVersionTellsNoLoss() throws {
        let answer = try EchoAnswer(parsing: vector("echo-answer").dropLast())
        #expect(answer == EchoAnswer(token: token, link: .wifi, name: "nørd"))
        #expect(try EchoAnswer(parsing: (answer.bytes + [101])[...]).lossPercent == nil)
    }

    @Test func laterFieldsOfAnAnswerAreSkipped() throws {
        let answer = EchoAnswer(token: token, link: .bluetooth, name: "n", lossPercent: 0)
        #expect(try EchoAnswer(parsing: (answer.bytes + [1, 2, 3])[...]) == answer)
    }

    @Test func anotherLinkIsUnknown() throws {
        var bytes = vector("echo-answer")
        bytes[9] = 7
        #expect(try EchoAnswer(parsing: bytes[...]).link == nil)
    }

    @Test(arguments: 11...80) func anAnswerIsNeverLongerThanItsQuestion(byteCount: Int) {
        let name = String(repeating: "ø", count: 31) + "x"
        let answer = EchoAnswer(token: token, link: nil, name: name, lossPercent: 100)
            .fitted(to: byteCount)
        #expect(answer.bytes.count <= byteCount)
        #expect(name.hasPrefix(answer.name))
        // Whole characters: at most one byte is left over.
        #expect(answer.bytes.count >= min(byteCount - 1, EchoAnswer.byteCountMax))
    }

    @Test func eachIsOfItsKind() {
        for type in [EchoRequest.type, EchoAnswer.type] {
            #expect(DatagramKind(firstByte: type) == .echo)
        }
    }
}
