import Testing

@testable import NearbyCore

struct LineTests {
    private final class Token: Sendable {}

    @Test func whatLeftIsNotKeptAlive() {
        var line = Deque<Token>()
        weak var first: Token?
        do {
            let token = Token()
            first = token
            line.append(token)
        }
        line.append(Token())
        #expect(first != nil)
        line.removeFirst()
        #expect(first == nil)
        #expect(line.count == 1)
    }

    @Test func elementsLeaveInTheOrderTheyJoined() {
        var line = Deque<Int>()
        var expected: [Int] = []
        for step in 0..<1_000 {
            line.append(step)
            expected.append(step)
            if step % 3 != 0 {
                #expect(line.first == expected.first)
                line.removeFirst()
                expected.removeFirst()
            }
            #expect(line.count == expected.count)
            #expect(line.last == expected.last)
        }
        #expect(Array(line.elements) == expected)
        #expect(line.firstPosition { $0 >= 900 } == expected.firstIndex { $0 >= 900 })
        line.removeFirst(5_000)
        #expect(line.isEmpty)
        #expect(line.first == nil)
    }

    @Test func theLastGoesToo() {
        var line = Deque<Int>()
        for number in 0..<100 { line.append(number) }
        line.removeFirst(30)
        for _ in 0..<60 { line.removeLast() }
        line.shrink()
        #expect(Array(line.elements) == Array(30..<40))
        #expect(line.storage.count == 16)
        line.append(7)
        #expect(line.last == 7)
        line.removeFirst(11)
        line.removeLast()
        #expect(line.isEmpty)
    }
}
