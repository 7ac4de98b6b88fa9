import NearbyCore
import NearbyWire
import Testing
import VectorFile

@testable import NearbyGroups

@Suite struct GroupMessageTests {
    static let pair = SessionPair(
        from: SessionID(value: 0x0102_0304_0506_0708), to: SessionID(value: 0x1112_1314_1516_1718))

    static let all: [GroupMessage] = [
        .invite(
            GroupInvite(
                number: 7, session: pair.from, preference: .required, timeout: .seconds(30),
                context: [1, 2, 3])),
        .answer(invitation: 7, .accepted(pair.to)), .answer(invitation: 7, .declined),
        .answer(invitation: 7, .refused(.preference)), .cancel(invitation: 7),
        .connect(
            GroupConnect(
                pair: pair, number: 0xabcd, preference: .none, isAnswer: true,
                credentials: Credentials(certificates: [[1, 2], [3]], proof: [4, 5]))),
        .ready(pair), .end(pair, .certificate),
        .members(
            pair, [GroupMember(peer: PeerID(high: 1, low: 2), session: SessionID(value: 3))]),
        .data(number: 0xabcd, [9, 8, 7]), .part(number: 0xabcd, [6, 5]),
        .hold(number: 0xabcd, true), .hold(number: 0xabcd, false),
    ]

    @Test(arguments: all) func isReadAsItWasWritten(_ message: GroupMessage) throws {
        #expect(try GroupMessage(parsing: message.bytes) == message)
    }

    @Test(arguments: all) func everyTruncationIsRefusedOrShortensData(_ message: GroupMessage) {
        let bytes = message.bytes
        for count in 0..<bytes.count {
            let part = try? GroupMessage(parsing: Array(bytes.prefix(count)))
            if case .data? = part { continue }
            if case .part? = part { continue }
            #expect(part == nil)
        }
    }

    @Test(arguments: all) func fieldsOfLaterVersionsAreSkipped(_ message: GroupMessage) throws {
        if case .data = message { return }
        if case .part = message { return }
        #expect(try GroupMessage(parsing: message.bytes + [1, 2, 3]) == message)
    }

    @Test(arguments: [
        ("invite", 0), ("answer", 1), ("cancel", 4), ("connect", 5), ("ready", 6), ("end", 7),
        ("members", 8), ("data", 9), ("part", 10), ("hold", 11),
    ]) func theGoldenMessageIsReadAndWritten(_ name: String, _ index: Int) throws {
        #expect(Self.all[index].bytes == vector(name))
        #expect(try GroupMessage(parsing: vector(name)) == Self.all[index])
    }

    @Test func whatIsTooLongIsRefused() {
        var invite = GroupInvite(
            number: 1, session: Self.pair.from, preference: .required, timeout: .seconds(1),
            context: [UInt8](repeating: 0, count: Limits.contextBytesMax + 1))
        #expect(throws: WireError.tooLong(limit: 16_384, actual: 16_385)) {
            try GroupMessage(parsing: GroupMessage.invite(invite).bytes)
        }
        invite.context = []
        invite.timeout = .seconds(3_601)
        #expect(throws: WireError.invalid(field: "timeout")) {
            try GroupMessage(parsing: GroupMessage.invite(invite).bytes)
        }
        let chain = Credentials(
            certificates: [
                [UInt8](repeating: 1, count: 10_000), [UInt8](repeating: 2, count: 6_385),
            ],
            proof: [])
        let connect = GroupConnect(
            pair: Self.pair, number: 1, preference: .required, isAnswer: false, credentials: chain)
        #expect(throws: WireError.tooLong(limit: 6_384, actual: 6_385)) {
            try GroupMessage(parsing: GroupMessage.connect(connect).bytes)
        }
    }
}
