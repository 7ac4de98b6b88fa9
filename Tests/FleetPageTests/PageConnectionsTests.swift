import Testing

@testable import FleetPage

/// Who sends a request byte by byte keeps nobody out.
struct PageConnectionsTests {
    /// A name, at which nobody looks.
    private func connection(_ number: Int) throws -> OpaquePointer {
        try #require(OpaquePointer(bitPattern: number * 16))
    }

    @Test func theOneThatHasWaitedForLongestMakesRoom() throws {
        var table = PageConnections(enough: 4)
        for number in 1...4 {
            #expect(table.opened(try connection(number), socket: Int32(number)) == nil)
        }
        table.busy(try connection(1))
        #expect(table.opened(try connection(5), socket: 5) == 2)
        #expect(table.opened(try connection(6), socket: 6) == 3)
        // Those that were told to end are gone a moment later.
        table.closed(try connection(2))
        table.closed(try connection(3))
        #expect(table.count == 4)
        #expect(table.opened(try connection(7), socket: 7) == 4)
    }

    @Test func requestsThatAreWorkedOnAreNotEnded() throws {
        var table = PageConnections(enough: 2)
        for number in 1...8 {
            _ = table.opened(try connection(number), socket: Int32(number))
            table.busy(try connection(number))
        }
        #expect(table.waitingCount == 0)
        // Only the one itself could go.
        #expect(table.opened(try connection(9), socket: 9) == 9)
        // An answered one waits for its next request, behind others.
        table.wait(try connection(3), socket: 3)
        table.wait(try connection(4), socket: 4)
        #expect(table.opened(try connection(10), socket: 10) == 3)
    }
}
