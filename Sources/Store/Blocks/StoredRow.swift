/// A reading, and what else the store says of it.
struct StoredRow: Hashable {
    var reading: ReadingRow
    var hops: UInt8

    /// In order of time and number.
    static func isEarlier(_ left: StoredRow, _ right: StoredRow) -> Bool {
        (left.reading.milliseconds, left.reading.sequence)
            < (right.reading.milliseconds, right.reading.sequence)
    }

    static func isLower(_ left: StoredRow, _ right: StoredRow) -> Bool {
        left.reading.sequence < right.reading.sequence
    }
}

extension StoredRow {
    var place: ReadingTable.Place {
        ReadingTable.Place(milliseconds: reading.milliseconds, sequence: reading.sequence)
    }
}

extension [StoredRow] {
    /// In order of sequence, each once.
    var ascending: [StoredRow] {
        if zip(self, dropFirst()).allSatisfy(StoredRow.isLower) { return self }
        var all: [StoredRow] = []
        for row in sorted(by: StoredRow.isLower)
        where all.last?.reading.sequence != row.reading.sequence {
            all.append(row)
        }
        return all
    }

    /// Of rows that ascend in sequence, those with these numbers.
    func within(_ sequences: ClosedRange<Int64>) -> ArraySlice<StoredRow> {
        let first = index { $0 < sequences.lowerBound }
        let end = index { $0 <= sequences.upperBound }
        return self[first..<Swift.max(first, end)]
    }

    func contains(sequence: Int64) -> Bool { !within(sequence...sequence).isEmpty }

    /// How many pass, all of which stand before those that do not.
    private func index(where passes: (Int64) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if passes(self[middle].reading.sequence) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
