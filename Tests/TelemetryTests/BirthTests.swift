import NearbyCore
import Testing
import VectorFile

@testable import Telemetry

@Suite struct BirthTests {
    private func golden() throws -> Birth {
        Birth(
            number: 0x002a, run: RunID(value: 0x1122_3344_5566_0029),
            boot: BootID(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f),
            node: try NodeDescription(
                name: "north", labels: [Label(key: "site", value: "a")], board: "Pi"),
            channels: [
                Channel(
                    number: 1,
                    description: try #require(
                        ChannelDescription(name: "temp", unit: .celsius, scale: -2))),
                Channel(
                    number: 2, description: try #require(ChannelDescription(name: "load")),
                    isRetired: true),
            ],
            previous: PreviousRun(run: RunID(value: 0xaabb_ccdd_eeff_0011), lastSequence: 300),
            sent: Instant(nanoseconds: 123_456_000_000),
            clock: ClockReading(rank: .network, unixOffset: .seconds(1_795_239_900)))
    }

    /// An agent may choose the boots that it shows: many with one half must not become one long row
    /// in a table.
    @Test func bootsWithOneHalfInCommonHashApart() {
        for isHigh in [true, false] {
            let boots = (0..<1_000 as Range<UInt64>).map {
                isHigh ? BootID(high: 7, low: $0) : BootID(high: $0, low: 7)
            }
            #expect(Set(boots.map { $0._rawHashValue(seed: 1) }).count == boots.count)
        }
    }

    @Test func theGoldenBirthIsReadAndWritten() throws {
        #expect(try TelemetryMessage(parsing: vector("birth")) == .birth(golden()))
        #expect(try TelemetryMessage.birth(golden()).bytes == vector("birth"))
    }

    /// The golden birth is an earlier version's: it says nothing of how the run before it ended.
    @Test func howThePreviousRunEndedIsCarried() throws {
        for endedInOrder in [true, false, nil] as [Bool?] {
            var birth = try golden()
            birth.previous?.endedInOrder = endedInOrder
            var skipped = 0
            let bytes = TelemetryMessage.birth(birth).bytes
            #expect(try TelemetryMessage(parsing: bytes, skippedFields: &skipped) == .birth(birth))
            #expect(skipped == 0)
        }
    }

    @Test func theGoldenRequestIsReadAndWritten() throws {
        let reference = BirthReference(run: RunID(value: 0xaaaa_0000_1122_3344), number: 42)
        let parsed = try TelemetryMessage(parsing: vector("birth-request"))
        #expect(parsed == .birthRequest(reference))
        #expect(TelemetryMessage.birthRequest(reference).bytes == vector("birth-request"))
    }

    @Test func truncationsAndBitFlipsNeverTrap() {
        for name in ["birth", "birth-request"] {
            let bytes = vector(name)
            #expect(!bytes.isEmpty)
            for count in 0..<bytes.count { survive(Array(bytes.prefix(count))) }
            surviveBitFlips(of: bytes)
        }
    }

    @Test func truncationsAreRefusedUnlessTheyEndBeforeATrailingField() throws {
        let bytes = vector("birth")
        let ends = [bytes.count - 28, bytes.count - 16, bytes.count - 11]
        for count in 0..<bytes.count where !ends.contains(count) {
            #expect(throws: WireError.self) {
                try TelemetryMessage(parsing: Array(bytes.prefix(count)))
            }
        }
    }

    @Test func fieldsOfLaterVersionsAreSkippedAndCounted() throws {
        var skipped = 0
        let later = vector("birth") + [9, 2, 0, 0]
        #expect(try TelemetryMessage(parsing: later, skippedFields: &skipped) == .birth(golden()))
        #expect(skipped == 1)
        let request = try TelemetryMessage(
            parsing: [3, 0x11, 0x22, 0x33, 0x44, 42, 7, 0], skippedFields: &skipped)
        #expect(
            request
                == .birthRequest(
                    BirthReference(run: RunID(value: 0xaaaa_0000_1122_3344), number: 42)))
        #expect(skipped == 2)
    }

    @Test func aClockOfAnUnknownRankIsAnEstimate() throws {
        var bytes = vector("birth")
        bytes[bytes.count - 9] = 200
        guard case .birth(let birth) = try TelemetryMessage(parsing: bytes) else {
            Issue.record("not a birth")
            return
        }
        #expect(birth.clock == ClockReading(rank: .none, unixOffset: .seconds(1_795_239_900)))
    }

    @Test func unknownTagsAreNamed() {
        for tag: UInt8 in [0, 7, 255] {
            #expect(throws: WireError.unknownType(tag)) {
                try TelemetryMessage(parsing: [tag, 1, 2])
            }
        }
    }

    @Test func aBirthServesForEarlierOnesOfItsRunOnly() throws {
        var birth = try golden()
        let other = BirthReference(run: RunID(value: birth.run.value + 1), number: 1)
        #expect(birth.covers(BirthReference(run: birth.run, number: 1)))
        #expect(birth.covers(birth.reference))
        #expect(!birth.covers(BirthReference(run: birth.run, number: birth.number + 1)))
        birth.number = 0xffff
        #expect(!birth.covers(other))
    }

    @Test func channelNumbersMustAscend() throws {
        var birth = try golden()
        birth.channels.reverse()
        #expect(throws: WireError.invalid(field: "channel number")) {
            try TelemetryMessage(parsing: TelemetryMessage.birth(birth).bytes)
        }
    }

    @Test func descriptionsHoldOnlyWhatABirthCanCarry() {
        #expect(ChannelDescription(name: "") == nil)
        #expect(ChannelDescription(name: String(repeating: "é", count: 32)) == nil)
        #expect(ChannelDescription(name: "a\nb") == nil)
        #expect(throws: WireError.self) { try NodeDescription(name: "") }
        #expect(throws: WireError.self) {
            try NodeDescription(
                name: "n", labels: [Label(key: "a", value: "1"), Label(key: "a", value: "2")])
        }
    }

    @Test func theKernelsBootIDIsRead() {
        let boot = BootID(text: "00010203-0405-0607-0809-0a0b0c0d0e0f\n")
        #expect(boot?.description == "000102030405060708090a0b0c0d0e0f")
        #expect(BootID(text: "00010203") == nil)
        #expect(BootID(text: "not a boot id") == nil)
    }

    /// A node's words are shown, stored and sent on by a dozen programs.
    @Test(arguments: ["\u{1b}[2J", "a\nb", "\u{0}", "\u{7f}"])
    func wordsHaveNoControlCharacters(_ word: String) {
        #expect(throws: WireError.invalid(field: "name")) { try NodeDescription(name: word) }
        #expect(throws: WireError.invalid(field: "board")) {
            try NodeDescription(name: "n", board: word)
        }
        for label in [Label(key: word, value: "v"), Label(key: "k", value: word)] {
            #expect(throws: WireError.invalid(field: "label")) {
                try NodeDescription(name: "n", labels: [label])
            }
        }
    }
}
