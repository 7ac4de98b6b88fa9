import CollectorConfiguration
import Fleet
import Outputs

/// Readings as samples for a Prometheus, or another server that takes its remote write.
///
/// Samples that come too late for the server are refused for good: one such sample fails its whole
/// request, so they are searched for. Times that were delivered wrongly stay: there is no request
/// that deletes.
public final class RemoteWriteOutput: OutputSink {
    /// Samples of a series that are left out one by one until the rest is taken; then more at once.
    private static let singleStepsMax = 64

    private let client: HTTPClient
    /// Whether this server took anything since the output was started.
    private var hasWritten = false
    private var ledger = SeriesLedger()
    /// Series that have ended, for the server to mark them stale.
    private var ended: [RemoteSeries] = []
    /// Marks of one request.
    private static let marksMax = 2_000

    public init(_ settings: RemoteWriteSettings) { client = HTTPClient(settings.server) }

    public func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        let (series, left) = RemoteWrite.series(of: batch)
        var result = Result()
        try send(series[...], &result)
        // A server that has never taken anything may be no such server at all.
        if let why = result.strangeRefusal, !hasWritten {
            throw OutputFault(
                .unsuitable,
                "\(client.target) accepts nothing (\(why)); check that url leads to a server that "
                    + "accepts remote write")
        }
        if left > 0 {
            result.receipt.refuse(left, "another reading of the same millisecond stands for it")
        }
        ledger.apply(batch)
        ended += ledger.takeEnded()
        return result.receipt
    }

    public func idle(_ fleet: FleetSnapshot) throws(OutputFault) {
        ledger.apply(fleet)
        ended += ledger.takeEnded()
        while !ended.isEmpty {
            let marks = ended.prefix(Self.marksMax)
            // What is refused comes too late: there are newer samples.
            var result = Result()
            try send(marks, &result)
            ended.removeFirst(marks.count)
        }
    }

    /// What the output before this one, whose settings or words were others, had written.
    public var estate: OutputEstate? { .series(ledger, target: client.target) }

    public func inherit(_ estate: OutputEstate) {
        guard case .series(let ledger, client.target) = estate else { return }
        self.ledger = ledger
    }

    public func close() { client.close() }

    // MARK: Parts

    private struct Result {
        var receipt = OutputReceipt()
        /// Why something was refused that was not too late.
        var strangeRefusal: String?
    }

    private func send(
        _ series: ArraySlice<RemoteSeries>, _ result: inout Result
    ) throws(OutputFault) {
        guard let first = series.first else { return }
        let middle = series.startIndex + series.count / 2
        switch try answer(to: series) {
        case .written: hasWritten = true
        case .refused, .tooLarge:
            guard series.count == 1 else {
                try send(series[..<middle], &result)
                return try send(series[middle...], &result)
            }
            try search(first, &result)
        case .fault(let fault): throw fault
        }
    }

    /// Of a series whose samples were refused: the oldest is what a server takes last, so they are
    /// left out from there.
    private func search(_ series: RemoteSeries, _ result: inout Result) throws(OutputFault) {
        var rest = series
        var step = 1
        var tries = 0
        while !rest.samples.isEmpty {
            switch try answer(to: [rest]) {
            case .written: return hasWritten = true
            case .tooLarge where rest.samples.count > 1:
                var older = rest
                let half = rest.samples.count / 2
                older.samples.removeLast(half)
                rest.samples.removeFirst(rest.samples.count - half)
                try search(older, &result)
            case .tooLarge: return result.receipt.refuse(1, "a sample is too large")
            case .refused(let why, let isAboutTime):
                if !isAboutTime { result.strangeRefusal = why }
                tries += 1
                if tries > Self.singleStepsMax { step *= 2 }
                let count = min(step, rest.samples.count)
                rest.samples.removeFirst(count)
                result.receipt.refuse(count, why)
            case .fault(let fault): throw fault
            }
        }
    }

    private func answer(
        to series: ArraySlice<RemoteSeries>
    ) throws(OutputFault) -> RemoteWriteAnswer {
        let answer = try client.post(
            RemoteWrite.request(Array(series)), where: RemoteWriteAnswer.isAboutSamples)
        return RemoteWriteAnswer(answer, at: client.target, hiding: client.secrets)
    }
}
