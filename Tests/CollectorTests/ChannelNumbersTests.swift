import NearbyCore
import Testing

@testable import Collector

@Suite struct ChannelNumbersTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func everyNumberIsFoundWhereItIs(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var numbers = ChannelNumbers()
        var expected: [UInt16] = []
        let few: [UInt16] = [0, 1, 2, 3, 4, 5, 9, 10, 500, 1_024, 65_534, 65_535]
        for _ in 0..<100 {
            let number = few.randomElement(using: &generator) ?? 0
            if let place = expected.firstIndex(of: number) {
                #expect(numbers.place(of: number) == place)
                numbers.remove(at: place)
                expected.remove(at: place)
            } else {
                #expect(numbers.place(of: number) == nil)
                expected = (expected + [number]).sorted()
                let place = numbers.insert(number)
                #expect(place == expected.firstIndex(of: number))
            }
            #expect(numbers.numbers == expected)
        }
    }
}
