/// A batch as the tables can take it: each key once, and what does not fit is counted.
public struct PostgresPlan: Sendable {
    /// With the sequence number as PostgreSQL's integers have it.
    public private(set) var readings: [(reading: OutputReading, sequence: Int64)] = []
    /// Those that are used, in their order.
    public private(set) var series: [OutputSeries] = []
    public private(set) var receipt = OutputReceipt()

    public var times: [Int64] { readings.map(\.reading.utc) }

    private struct Key: Hashable {
        let node: Int
        let sequence: Int64
    }

    /// Of two readings with one key the later counts: its time is the better one.
    public init(_ batch: OutputBatch) {
        var nodes: [OutputNodeKey: Int] = [:]
        let nodeOfSeries = batch.series.map { series in
            let key = OutputNodeKey(peer: series.node.peer, run: series.node.run)
            let number = nodes[key] ?? nodes.count
            nodes[key] = number
            return number
        }
        var places: [Key: Int] = [:]
        var isUsed = batch.series.map { _ in false }
        for reading in batch.readings {
            guard nodeOfSeries.indices.contains(reading.series),
                let sequence = Int64(exactly: reading.sequence)
            else {
                refuse(reading)
                continue
            }
            isUsed[reading.series] = true
            let key = Key(node: nodeOfSeries[reading.series], sequence: sequence)
            if let place = places[key] {
                readings[place] = (reading, sequence)
            } else {
                places[key] = readings.count
                readings.append((reading, sequence))
            }
        }
        series = zip(batch.series, isUsed).filter(\.1).map(\.0)
    }

    private mutating func refuse(_ reading: OutputReading) {
        receipt.refusedCount += 1
        receipt.refusal =
            receipt.refusal
            ?? "sequence number \(reading.sequence) is greater than PostgreSQL's integers"
    }
}
