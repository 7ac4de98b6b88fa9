import NearbyCore
import Testing
import VectorFile

@testable import Telemetry

@Suite struct ReceiptTests {
    let run = RunID(value: 0x0011_2233_4455_6677)

    private func settled(_ ranges: Range<UInt64>...) -> NumberRanges {
        var set = NumberRanges()
        for range in ranges { set.insert(range) }
        return set
    }

    private func messages() throws -> [(name: String, message: TelemetryMessage)] {
        let receipt = try #require(
            Receipt(run: run, settled: settled(1..<100, 102..<894, 895..<1_001)))
        let answer = TimeAnswer(
            asked: Instant(nanoseconds: 10_000_000_000),
            received: Instant(nanoseconds: 1_000_000_000),
            answered: Instant(nanoseconds: 1_000_500_000),
            boot: BootID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10),
            clock: ClockReading(rank: .network, unixOffset: .seconds(1_700_000_000)))
        return [
            ("receipt", .receipt(receipt)),
            (
                "time-request",
                .timeExchange(.request(asked: Instant(nanoseconds: 10_000_000_000)))
            ),
            ("time-answer", .timeExchange(.answer(answer))),
            ("gap", .gap(Gap(run: run, range: 300..<320, reason: .spoolFull))),
        ]
    }

    @Test func theGoldenMessagesAreReadAndWritten() throws {
        for (name, message) in try messages() {
            let bytes = vector(name)
            let parsed = try TelemetryMessage(parsing: bytes)
            #expect(parsed == message, "\(name)")
            #expect(message.bytes == bytes, "\(name)")
        }
    }

    @Test func truncationsAreRefusedAndBitFlipsNeverTrap() throws {
        for (name, _) in try messages() {
            let bytes = vector(name)
            for count in 0..<bytes.count {
                #expect(throws: WireError.self) {
                    try TelemetryMessage(parsing: Array(bytes.prefix(count)))
                }
            }
            surviveBitFlips(of: bytes)
        }
    }

    @Test func aReceiptSaysWhatIsSettledAndNothingElse() throws {
        let set = settled(1..<5, 7..<8, 20..<1_000)
        let receipt = try #require(Receipt(run: run, settled: set))
        #expect(receipt.settled == set)
        #expect(receipt.missing == [5..<7, 8..<20])
        #expect(Receipt(run: run, settled: NumberRanges()) == nil)
    }

    @Test func aRunOfWhichTheBeginningIsMissingHasAReceiptToo() throws {
        let set = settled(50..<60)
        let receipt = try #require(Receipt(run: run, settled: set))
        #expect(receipt.missing == [1..<50])
        #expect(receipt.settled == set)
    }

    @Test func tooManyRangesAreCutOffAndNothingMissingIsCalledSettled() throws {
        var set = NumberRanges()
        for number in 0..<UInt64(500) { set.insert(number * 10 + 3..<number * 10 + 6) }
        let receipt = try #require(Receipt(run: run, settled: set))
        let message = TelemetryMessage.receipt(receipt).bytes
        #expect(message.count <= Limits.messageBytesMax)
        #expect(receipt.missing.count == Limits.receiptRangesMax)
        for number in 1...receipt.through {
            #expect(receipt.settled.contains(number) == set.contains(number))
        }
        #expect(set.contains(receipt.through))
        #expect(try TelemetryMessage(parsing: message) == .receipt(receipt))
    }

    @Test func theLargestReceiptFitsAnUnreliableMessage() throws {
        var set = NumberRanges()
        let step = UInt64(1) << 57
        for number in 1...UInt64(60) { set.insert(number * step..<number * step + step / 2) }
        let receipt = try #require(Receipt(run: run, settled: set))
        #expect(TelemetryMessage.receipt(receipt).bytes.count <= Limits.messageBytesMax)
    }

    @Test func absurdNumbersAreRefused() {
        let run: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]
        let most: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
        // Through: none, and the last number, which no run reaches.
        var bad: [[UInt8]] = [[4] + run + [0, 0]]
        bad.append([4] + run + most + [0])
        // Ranges that touch, that are empty, that reach beyond `through` or beyond 64 bits.
        for ranges: [UInt8] in [[9, 2, 1, 1, 0, 1], [9, 1, 0, 0], [9, 1, 0, 10]] {
            bad.append([4] + run + ranges)
        }
        bad.append([4] + run + [9, 1, 5] + most)
        for numbers: [UInt8] in [[0, 5, 1], [5, 0, 1], [2] + most + [1]] {
            bad.append([6] + run + numbers)
        }
        bad.append([5, 2, 0, 0, 0, 0, 0, 0, 0, 0])
        bad.append([5, 0, 0x80, 0, 0, 0, 0, 0, 0, 0])
        for bytes in bad {
            #expect(throws: WireError.self) { try TelemetryMessage(parsing: bytes) }
        }
    }
}
