import NearbyCore
import Testing

@testable import NearbyDTLS

/// A DTLS record; the length field says what `claimedCount` says, or the truth.
func record(
    _ type: UInt8, version: UInt16 = 0xfefd, epoch: UInt16 = 0, sequence: UInt64 = 7,
    body: [UInt8], claimedCount: UInt16? = nil
) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(type)
    writer.write(version)
    writer.write(epoch)
    writer.write(sequence, byteCount: 6)
    writer.write(claimedCount ?? UInt16(body.count))
    writer.write(contentsOf: body)
    return writer.bytes
}

/// What somebody on the network may send to kill an association.
let harmfulRecords: [(name: String, bytes: [UInt8])] = [
    ("fatal alert", record(21, body: [2, 40])),
    ("warning alert", record(21, body: [1, 90])),
    ("close_notify", record(21, body: [1, 0])),
    ("application data", record(23, body: [1, 2, 3])),
    ("unknown type", record(24, body: [1, 2, 3])),
    ("type 25", record(25, body: [UInt8](repeating: 0, count: 40))),
    ("bad change cipher spec", record(20, body: [2])),
    ("long change cipher spec", record(20, body: [1, 1])),
    ("empty change cipher spec", record(20, body: [])),
    ("short handshake message", record(22, body: [UInt8](repeating: 1, count: 11))),
    ("empty handshake message", record(22, body: [])),
    ("version 1.3", record(22, version: 0x0304, body: [UInt8](repeating: 1, count: 40))),
    (
        "version 1.0 protected",
        record(22, version: 0xfeff, epoch: 1, body: [UInt8](repeating: 1, count: 40))
    ),
    ("epoch 1, nothing", record(23, epoch: 1, body: [])),
    ("epoch 1, one byte", record(23, epoch: 1, body: [9])),
    ("epoch 1, one byte short", record(22, epoch: 1, body: [UInt8](repeating: 1, count: 23))),
    ("epoch 1 change cipher spec", record(20, epoch: 1, body: [UInt8](repeating: 1, count: 40))),
    ("epoch 2", record(22, epoch: 2, body: [UInt8](repeating: 1, count: 40))),
    ("epoch 65535", record(23, epoch: 0xffff, body: [UInt8](repeating: 1, count: 40))),
    ("truncated body", record(22, body: [UInt8](repeating: 1, count: 20), claimedCount: 21)),
    ("header only", Array(record(22, body: []).prefix(12))),
    ("one byte", [22]),
    ("zeros", [UInt8](repeating: 0, count: 200)),
    ("ones", [UInt8](repeating: 0xff, count: 200)),
]

@Suite struct RecordFilterTests {
    private let hello = record(22, version: 0xfeff, body: [UInt8](repeating: 1, count: 12))
    private let finished = record(22, epoch: 1, body: [UInt8](repeating: 1, count: 40))
    private let changeCipherSpec = record(20, body: [1])

    @Test func theLastFatalAlertIsKeptThoughItIsDropped() {
        var filter = RecordFilter()
        #expect(filter.pass(record(21, body: [1, 48])[...], in: .handshake).isEmpty)
        #expect(filter.pass(record(21, body: [2, 48, 0])[...], in: .handshake).isEmpty)
        #expect(filter.pass(record(21, body: [])[...], in: .handshake).isEmpty)
        #expect(filter.lastAlert == nil)
        let datagram =
            record(21, body: [2, 48]) + record(22, body: [UInt8](repeating: 1, count: 12))
        #expect(filter.pass(datagram[...], in: .handshake).count == 25)
        #expect(filter.lastAlert == 48)
    }

    @Test func everyHarmfulRecordIsDroppedAndCountedInEveryPhase() {
        for (name, bytes) in harmfulRecords {
            for phase in [RecordFilter.Phase.handshake, .established] {
                var filter = RecordFilter()
                #expect(filter.pass(bytes[...], in: phase).isEmpty, "\(name)")
                let drops = filter.takeDrops()
                #expect(
                    drops[.handshakeMalformed] + drops[.handshakeRecordFiltered] >= 1, "\(name)")
                #expect(filter.drops == DropCounters())
            }
        }
    }

    @Test func handshakeRecordsPassDuringTheHandshake() {
        var filter = RecordFilter()
        let flight = hello + changeCipherSpec + finished
        #expect(filter.pass(flight[...], in: .handshake) == flight[...])
        #expect(filter.drops == DropCounters())
    }

    @Test func onceEstablishedOnlyProtectedRecordsPass() {
        var filter = RecordFilter()
        let flight = hello + changeCipherSpec + finished
        #expect(filter.pass(flight[...], in: .established) == finished[...])
        #expect(filter.takeDrops()[.handshakeRecordFiltered] == 2)
    }

    @Test func goodRecordsPassAroundBadOnes() {
        var filter = RecordFilter()
        let alert = record(21, body: [2, 40])
        let flight = Array([alert, hello, alert, finished].joined())
        let good = hello + finished
        #expect(filter.pass(flight[...], in: .handshake) == good[...])
        #expect(filter.takeDrops()[.handshakeRecordFiltered] == 2)
    }

    @Test func sliceOfALargerArrayIsWalkedFromItsOwnStart() {
        var filter = RecordFilter()
        let framed = [0, 0, 0] + hello + record(21, body: [2, 40]) + [0xff]
        #expect(filter.pass(framed[3...], in: .handshake) == hello[...])
        #expect(filter.takeDrops()[.handshakeMalformed] == 1)
    }

    @Test func everyTruncationAndEveryFlippedBitIsWalked() {
        var filter = RecordFilter()
        let flight = hello + changeCipherSpec + finished
        for count in 0..<flight.count { _ = filter.pass(flight.prefix(count), in: .handshake) }
        for bit in 0..<flight.count * 8 {
            var flipped = flight
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            _ = filter.pass(flipped[...], in: .handshake)
        }
        #expect(filter.drops[.handshakeMalformed] > 0)
    }
}
