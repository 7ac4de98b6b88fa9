import Testing

@testable import NearbyEngine

struct WorkStackTests {
    @Test func whatComesOfOneThingIsDoneBeforeTheNext() {
        var stack = WorkStack<String>()
        stack.add(["a", "b"], as: { $0 })
        stack.add("c")
        var done: [String] = []
        while let next = stack.next() {
            done.append(next)
            // "a" leads to "a1" and "a2", and "a1" to "a11".
            if next == "a" { stack.add(["a1", "a2"], as: { $0 }) }
            if next == "a1" { stack.add("a11") }
        }
        #expect(done == ["a", "a1", "a11", "a2", "b", "c"])
        #expect(stack.next() == nil)
    }
}
