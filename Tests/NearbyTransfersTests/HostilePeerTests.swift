import NearbyCore
import Testing

@testable import NearbyTransfers

/// A peer that does not keep to the rules, frame by frame.
@Suite struct HostilePeerTests {
    private let stream = TransferFrame.Body(.stream, 0)
    private let resource = TransferFrame.Body(.resource, 0)
    private let theirs = StreamID(isOwn: false, number: 0)
    private let offered = ResourceID(isOwn: false, number: 0)

    /// A machine that is told frames, each call a packet.
    private struct Told {
        var machine = TransferMachine()
        var number: UInt64 = 0

        mutating func tell(_ frames: TransferFrame...) -> [TransferOutput] {
            let packet = TransferPacket(lane: .reliable, number: number, frames: frames)
            number += 1
            return machine.handle(.received(packet.bytes), now: .zero)
                .filter { if case .send = $0 { false } else { true } }
        }
    }

    @Test func bytesBeyondTheLimitEndTheStream() {
        var told = Told()
        _ = told.tell(.open(number: 0, group: 1, name: "s"))
        let limit = UInt64(Limits.streamWindowBytes)
        #expect(
            told.tell(.data(stream, offset: limit, [1], isLast: false))
                == [.drop(.transferBeyondLimit), .wasReset(theirs, .violation)])
        #expect(
            told.tell(.data(stream, offset: 0, [1], isLast: false))
                == [.drop(.transferUnexpected)])
    }

    @Test func theEndOfAStreamStaysWhereItIs() {
        var told = Told()
        _ = told.tell(
            .open(number: 0, group: 1, name: "s"), .data(stream, offset: 5, [1], isLast: true))
        #expect(
            told.tell(.data(stream, offset: 6, [1], isLast: false))
                == [.drop(.transferFinalSize), .wasReset(theirs, .violation)])
    }

    @Test func overlappingBytesCountOnce() {
        var told = Told()
        _ = told.tell(.open(number: 0, group: 1, name: "s"))
        #expect(told.tell(.data(stream, offset: 4, [4, 5, 6], isLast: false)) == [])
        #expect(told.tell(.data(stream, offset: 2, [2, 3, 9, 9], isLast: false)) == [])
        #expect(
            told.tell(.data(stream, offset: 0, [0, 1, 8, 8], isLast: false)) == [
                .bytes(theirs, [0, 1, 8, 8]), .bytes(theirs, [4, 5, 6]),
            ])
    }

    @Test func aFloodOfOpensIsBounded() {
        var told = Told()
        var drops = 0
        for number in 0..<10_000 {
            let outputs = told.tell(.open(number: UInt64(number), group: 1, name: "s"))
            drops += outputs.filter { $0 == .drop(.transferTableFull) }.count
        }
        #expect(drops == 10_000 - Limits.streamsMax)
        #expect(told.machine.tableSizes.allSatisfy { $0.count <= $0.limit })
    }

    @Test func aFloodOfOpensAndResetsIsBounded() {
        var told = Told()
        for number in 0..<20_000 {
            _ = told.tell(
                .open(number: UInt64(number), group: 1, name: "s"),
                .offer(
                    number: UInt64(number),
                    ResourceOffer(
                        name: "f", group: 1, byteCount: 5, key: [UInt8](repeating: 0, count: 16))))
            _ = told.machine.handle(
                .stop(StreamID(isOwn: false, number: UInt64(number)), .cancelled), now: .zero)
            _ = told.machine.handle(
                .cancel(ResourceID(isOwn: false, number: UInt64(number)), .refused), now: .zero)
            _ = told.tell(
                .reset(.init(.stream, UInt64(number)), .cancelled, finalSize: 0),
                .reset(.init(.resource, UInt64(number)), .cancelled, finalSize: 0))
        }
        #expect(told.machine.tableSizes.allSatisfy { $0.count <= $0.limit })
    }

    /// The sizes of four such streams, or resources, together do not fit 64 bits.
    @Test func resetsThatSayAbsurdSizesCountForWhatMayHaveBeenSent() {
        var told = Told()
        let absurd: UInt64 = 1 << 62 - 1
        let beyond = TransferOutput.drop(.transferBeyondLimit)
        for number in 0..<UInt64(40) {
            let outputs = told.tell(.reset(.init(.stream, number), .cancelled, finalSize: absurd))
            #expect(outputs == [beyond])
        }
        for number in 0..<UInt64(10) {
            _ = told.tell(
                .offer(
                    number: number,
                    ResourceOffer(
                        name: "f", group: 1, byteCount: Int64(absurd),
                        key: [UInt8](repeating: 0, count: 16))))
            let outputs = told.tell(
                .reset(.init(.resource, number), .cancelled, finalSize: absurd))
            #expect(outputs.contains(beyond))
        }
        let after = StreamID(isOwn: false, number: 40)
        let bytes = [UInt8](repeating: 7, count: 1_000)
        #expect(
            told.tell(
                .open(number: 40, group: 1, name: "s"),
                .data(.init(.stream, 40), offset: 0, bytes[...], isLast: false))
                == [.opened(after, name: "s", group: 1), .bytes(after, bytes)])
        #expect(told.machine.tableSizes.allSatisfy { $0.count <= $0.limit })
    }

    /// What one stream gave back is not given back again at another's cost.
    @Test func aStoppedStreamIsSettledOnce() {
        var told = Told()
        let window = Limits.streamWindowBytes
        let bytes = [UInt8](repeating: 7, count: 1_000)
        for number in 0..<UInt64(2) {
            _ = told.tell(.open(number: number, group: 1, name: "s"))
            for offset in stride(from: 0, to: window - 1_000, by: 1_000) {
                _ = told.tell(
                    .data(
                        .init(.stream, number), offset: UInt64(offset), bytes[...],
                        isLast: number == 0 && offset + 1_000 > window - 1_000))
            }
        }
        let held = told.machine.incomingStreams.heldByteCount
        _ = told.machine.handle(.stop(theirs, .cancelled), now: .zero)
        #expect(told.machine.incomingStreams.heldByteCount == held / 2)
    }

    /// Its bytes are not kept for nobody.
    @Test func aStreamThatHasNoNameYetEndsWithAllOthers() {
        var told = Told()
        _ = told.tell(.data(stream, offset: 0, [1, 2, 3], isLast: false))
        #expect(told.machine.incomingStreams.heldByteCount == 3)
        _ = told.machine.handle(.endAll, now: .zero)
        #expect(told.machine.incomingStreams.heldByteCount == 0)
        #expect(told.machine.incomingStreams.pieceCount == 0)
        #expect(
            told.tell(.open(number: 0, group: 1, name: "s")) == [.drop(.transferUnexpected)])
    }

    @Test func whatIsAcknowledgedMustHaveBeenSent() throws {
        var told = Told()
        let frame = try #require(
            PacketAcknowledgement(of: .bulk, rising: [0..<5], delay: .zero, byteBudget: 99))
        #expect(told.tell(.acknowledgement(frame)) == [.drop(.acknowledgementUnsent)])
    }

    @Test func scatteredBytesOfManyStreamsAreBounded() {
        var told = Told()
        for number in 0..<UInt64(Limits.streamsMax) {
            for piece in 0..<1_200 {
                _ = told.tell(
                    .data(.init(.stream, number), offset: UInt64(2 * piece + 1), [1], isLast: false)
                )
            }
            if number > 2 { break }
        }
        #expect(told.machine.incomingStreams.pieceCount <= 4 * Limits.transferPiecesMax)
    }

    @Test func moreThanWasOfferedIsRefused() {
        for frame in [
            TransferFrame.data(resource, offset: 4, [1, 2], isLast: false),
            .data(resource, offset: 0, [1, 2], isLast: true),
        ] {
            var told = accepting(5)
            let outputs = told.tell(frame)
            #expect(
                outputs == [
                    .drop(.transferFinalSize), .finished(offered, .failure(.sizeMismatch)),
                ])
        }
    }

    @Test func anOffsetBeyondTheEndIsRefused() {
        var told = Told()
        let id = told.machine.nextResource
        let offer = ResourceOffer(
            name: "f", group: 1, byteCount: 5, key: [UInt8](repeating: 0, count: 16))
        _ = told.machine.handle(.offer(offer), now: .zero)
        #expect(
            told.tell(.accept(number: 0, offset: 6, limit: 1_000))
                == [.finished(id, .failure(.sizeMismatch))])
    }

    @Test func nobodyVerifiesWhatWasNotSent() {
        var told = Told()
        let id = told.machine.nextResource
        let offer = ResourceOffer(
            name: "f", group: 1, byteCount: 5, key: [UInt8](repeating: 0, count: 16))
        _ = told.machine.handle(.offer(offer), now: .zero)
        #expect(told.tell(.verified(number: 0)) == [.finished(id, .failure(.violation))])
    }

    @Test func dataBeforeItsAcceptanceIsDropped() {
        var told = Told()
        #expect(
            told.tell(.data(resource, offset: 0, [1], isLast: false))
                == [.drop(.transferUnexpected)])
    }

    @Test func thePacketThatComesTwiceCountsOnce() {
        var machine = TransferMachine()
        let packet = TransferPacket(
            lane: .bulk, number: 3, frames: [.open(number: 0, group: 1, name: "s")])
        #expect(
            machine.handle(.received(packet.bytes), now: .zero)
                .contains(.opened(theirs, name: "s", group: 1)))
        #expect(
            machine.handle(.received(packet.bytes), now: .zero)
                .contains(.drop(.transferDuplicate)))
    }

    @Test func noiseIsCounted() {
        var machine = TransferMachine()
        for bytes: [UInt8] in [[], [0x30], [0x20, 1, 2], [0x30, 0, 0]] {
            #expect(machine.handle(.received(bytes), now: .zero) == [.drop(.transferMalformed)])
        }
    }

    private func accepting(_ byteCount: Int64) -> Told {
        var told = Told()
        let offer = ResourceOffer(
            name: "f", group: 1, byteCount: byteCount, key: [UInt8](repeating: 0, count: 16))
        _ = told.tell(.offer(number: 0, offer))
        _ = told.machine.handle(.accept(offered, from: 0), now: .zero)
        return told
    }
}
