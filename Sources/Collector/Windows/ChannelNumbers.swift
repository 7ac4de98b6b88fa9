/// Numbers of channels in ascending order: what is known of them lies in arrays in the same order.
/// A dictionary would hash a number for each reading.
package struct ChannelNumbers: Sendable {
    package private(set) var numbers: [UInt16] = []

    package init() {}

    package func place(of number: UInt16) -> Int? {
        // They are handed out from 1 without gaps, so the guess is nearly always right.
        let guess = Int(number) - 1
        if numbers.indices.contains(guess), numbers[guess] == number { return guess }
        let place = end(of: number)
        return place < numbers.count && numbers[place] == number ? place : nil
    }

    /// Inserts a number that is not in the list yet.
    ///
    /// - Returns: the place that it has now.
    package mutating func insert(_ number: UInt16) -> Int {
        let place = end(of: number)
        numbers.insert(number, at: place)
        return place
    }

    mutating func remove(at place: Int) { numbers.remove(at: place) }

    /// How many are lower.
    private func end(of number: UInt16) -> Int {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
