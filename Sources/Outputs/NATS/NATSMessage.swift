import NearbyCore

/// A message for JetStream: one reading.
public struct NATSMessage: Hashable, Sendable {
    public let subject: String
    /// `Nats-Msg-Id`: of two messages with one id the servers keep the first. A reading whose clock
    /// was corrected is another message, with its time in the id.
    public let id: String
    public let payload: [UInt8]

    public init(
        _ reading: OutputReading, of series: OutputSeries, subject: String, isCorrection: Bool
    ) {
        self.subject = subject
        let key = "\(series.node.peer)-\(series.node.run)-\(reading.sequence)"
        id = isCorrection ? key + "-\(reading.utc)" : key
        payload = ReadingJSON.text(reading, of: series)
    }

    /// One for each reading of a batch, in its order.
    public static func messages(_ batch: OutputBatch, _ subjects: NATSSubject) -> [NATSMessage] {
        let names = batch.series.map(subjects.subject)
        return batch.readings.compactMap { reading in
            guard batch.series.indices.contains(reading.series) else { return nil }
            return NATSMessage(
                reading, of: batch.series[reading.series], subject: names[reading.series],
                isCorrection: batch.isCorrection)
        }
    }
}
