import Testing

@testable import Fleet

struct NaturalOrderTests {
    @Test func numbersInNamesCount() {
        let names = ["b10", "a", "b2", "b2-x10", "b2-x9", "b", "", "10", "9", "b02", "B3", "b002"]
        let expected = [
            "", "9", "10", "B3", "a", "b", "b002", "b02", "b2", "b2-x9", "b2-x10", "b10",
        ]
        #expect(names.sorted(by: NaturalOrder.isBefore) == expected)
    }

    /// However long they are: nothing is made a number of.
    @Test func longNumbersAreCompared() {
        let one = String(repeating: "9", count: 60)
        let two = "1" + String(repeating: "0", count: 60)
        #expect(NaturalOrder.isBefore("n\(one)", "n\(two)"))
        #expect(!NaturalOrder.isBefore("n\(two)", "n\(one)"))
        #expect(!NaturalOrder.isBefore(one, one))
    }
}
