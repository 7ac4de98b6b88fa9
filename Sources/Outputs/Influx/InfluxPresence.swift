import NearbyCore

/// Which readings a database has, under whatever tags.
///
/// A point that is written again replaces itself only under the same tags. Where names, labels or
/// units have changed in between, it would be there a second time.
public struct InfluxPresence: Sendable {
    private struct Point: Hashable {
        var node: OutputNodeKey
        var time: Int64
        var sequence: Int64
    }

    /// Readings of one run, at least one, which follow each other in a batch.
    public struct Question: Sendable {
        public let node: OutputNode
        let readings: ArraySlice<OutputReading>
        /// From the lowest to the highest sequence number.
        let numbers: ClosedRange<Int64>
        let times: ClosedRange<Int64>

        fileprivate init?(_ node: OutputNode, _ readings: ArraySlice<OutputReading>) {
            let numbers = readings.map { Int64(clamping: $0.sequence) }
            let times = readings.map(LineProtocol.timestamp)
            guard let first = numbers.min(), let last = numbers.max(), let begin = times.min(),
                let end = times.max()
            else { return nil }
            self.node = node
            self.readings = readings
            self.numbers = first...last
            self.times = begin...end
        }

        /// So few sequence numbers each that the answer stays well below 64 KiB.
        public var pieces: [Question] {
            var pieces: [Question] = []
            var start = readings.startIndex
            for index in readings.indices {
                let next = index + 1
                let isLast = next == readings.endIndex
                if isLast || !isNear(readings[start].sequence, readings[next].sequence),
                    let piece = Question(node, readings[start..<next])
                {
                    pieces.append(piece)
                    start = next
                }
            }
            return pieces
        }

        private func isNear(_ first: UInt64, _ next: UInt64) -> Bool {
            next >= first && next - first < InfluxPresence.spanMax
        }
    }

    private static let spanMax: UInt64 = 250

    private var points: Set<Point> = []

    public init() {}

    /// Whether nothing is there.
    public var isEmpty: Bool { points.isEmpty }

    /// A question for each run; readings of no series are left out.
    public static func questions(about batch: OutputBatch) -> [Question] {
        let nodes = batch.readings.map { reading in
            batch.series.indices.contains(reading.series) ? batch.series[reading.series].node : nil
        }
        var questions: [Question] = []
        var start = 0
        for index in nodes.indices {
            let next = index + 1
            if next < nodes.count, nodes[next]?.peer == nodes[start]?.peer,
                nodes[next]?.run == nodes[start]?.run
            {
                continue
            }
            if let node = nodes[start],
                let question = Question(node, batch.readings[start..<next])
            {
                questions.append(question)
            }
            start = next
        }
        return questions
    }

    /// Whether an answer in JSON has a row.
    public static func isAny(in answer: [UInt8]) -> Bool {
        answer.contains(Array("\"series\"".utf8))
    }

    /// Lines of CSV whose last two columns are time and sequence number. Whatever else there is,
    /// and a line without an end, is passed over.
    ///
    /// - Parameter node: whom the question was about.
    public mutating func add(_ answer: [UInt8], of node: OutputNode) {
        guard let end = answer.lastIndex(of: UInt8(ascii: "\n")) else { return }
        for line in answer[..<end].split(separator: UInt8(ascii: "\n")) {
            let columns = line.split(separator: UInt8(ascii: ","))
            guard columns.count >= 2, let time = Self.number(columns[columns.count - 2]),
                let sequence = Self.number(columns[columns.count - 1])
            else { continue }
            let key = OutputNodeKey(peer: node.peer, run: node.run)
            points.insert(Point(node: key, time: time, sequence: sequence))
        }
    }

    public func has(_ reading: OutputReading, of node: OutputNode) -> Bool {
        let key = OutputNodeKey(peer: node.peer, run: node.run)
        let sequence = Int64(clamping: reading.sequence)
        return points.contains(
            Point(node: key, time: LineProtocol.timestamp(reading), sequence: sequence))
    }

    private static func number(_ column: ArraySlice<UInt8>) -> Int64? {
        Int64(String(decoding: column.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self))
    }
}
