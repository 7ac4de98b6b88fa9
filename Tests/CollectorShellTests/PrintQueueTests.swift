import Testing

@testable import CollectorShell

struct PrintQueueTests {
    private var queue = PrintQueue()

    private mutating func add(_ count: Int) -> Bool {
        queue.add([UInt8](repeating: 0x2e, count: count), bytesMax: 10)
    }

    @Test mutating func whatFindsNoRoomIsDroppedWithAllThatFollowsUntilNothingWaits() throws {
        let taken = [add(6), add(4), add(1), add(0)]
        #expect(taken == [true, true, false, false])
        for hasRoom in [false, true] {
            let next = queue.next()
            let text = try #require(next)
            let later = add(1)
            let hasRoomNow = queue.wrote(text)
            #expect(!later && hasRoomNow == hasRoom)
        }
        let isTaken = add(1)
        #expect(isTaken && !queue.isEmpty)
    }

    @Test mutating func aTextThatFindsNothingWaitingIsTakenWhateverItsSize() {
        let taken = [add(11), add(1)]
        #expect(taken == [true, false])
    }

    @Test mutating func thePictureThatIsNewestTakesThePlaceOfThoseThatWait() {
        _ = add(3)
        queue.replaceWaiting(with: [1])
        queue.replaceWaiting(with: [2])
        let texts = [queue.next(), queue.next()]
        #expect(texts == [[2], nil])
        let hasRoom = queue.wrote([2])
        #expect(!hasRoom && queue.isEmpty)
    }

    @Test mutating func afterAFaultNothingWaitsAndEverythingIsAsGoodAsWritten() {
        _ = [add(6), add(6)]
        queue.fail(5)
        let isTaken = add(6)
        queue.replaceWaiting(with: [1])
        let next = queue.next()
        #expect(isTaken && queue.isEmpty && queue.fault == 5 && next == nil)
    }
}
