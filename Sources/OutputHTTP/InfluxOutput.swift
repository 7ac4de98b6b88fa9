import CollectorConfiguration
import Fleet
import Outputs

/// Readings as points in an InfluxDB. A point that comes again replaces itself; when history is
/// sent again, one that is there under other tags stays as it is.
public final class InfluxOutput: OutputSink {
    private let client: HTTPClient
    private let requests: InfluxRequests
    private let lines: LineProtocol
    /// Batches in a row about which a question failed.
    private var failedQuestions = 0
    /// What the server said last of a question that failed.
    private var questionFault: String?
    /// After so many, a failure no longer holds the batch back: a server that takes writes but
    /// answers no questions would hold history back for ever.
    private static let failedQuestionsMax = 3

    public init(_ settings: InfluxSettings) {
        client = HTTPClient(settings.server)
        let place: InfluxRequests.Place =
            switch settings.place {
            case .database(let name, let policy): .database(name, policy: policy)
            case .bucket(let name, let organisation): .bucket(name, organisation: organisation)
            }
        requests = InfluxRequests(place, measurement: settings.measurement)
        lines = LineProtocol(measurement: settings.measurement)
    }

    public func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        for redating in batch.redatings { try delete(redating) }
        var receipt = OutputReceipt()
        let readings = batch.isFromBefore ? try missing(batch, &receipt) : batch.readings
        try write(readings[...], of: batch, &receipt)
        return receipt
    }

    public func idle(_ fleet: FleetSnapshot) throws(OutputFault) {}

    public func close() { client.close() }

    // MARK: What is there

    /// The readings of a batch that are not there yet, as far as the server says.
    private func missing(
        _ batch: OutputBatch, _ receipt: inout OutputReceipt
    ) throws(OutputFault) -> [OutputReading] {
        let presence: InfluxPresence
        do throws(OutputFault) {
            presence = try present(batch, &receipt)
            (failedQuestions, questionFault) = (0, nil)
        } catch {
            failedQuestions += 1
            guard failedQuestions > Self.failedQuestionsMax else { throw error }
            client.forgetPause()
            remark(questionFault ?? "\(error)", &receipt)
            return batch.readings
        }
        guard !presence.isEmpty else { return batch.readings }
        return batch.readings.filter { reading in
            guard batch.series.indices.contains(reading.series) else { return true }
            return !presence.has(reading, of: batch.series[reading.series].node)
        }
    }

    private func present(
        _ batch: OutputBatch, _ receipt: inout OutputReceipt
    ) throws(OutputFault) -> InfluxPresence {
        var presence = InfluxPresence()
        for question in InfluxPresence.questions(about: batch) {
            let answer = try ask(requests.anyPresent(question), &receipt)
            guard InfluxPresence.isAny(in: answer) else { continue }
            for piece in question.pieces {
                presence.add(try ask(requests.present(piece), &receipt), of: question.node)
            }
        }
        return presence
    }

    /// The answer; empty where there is none. A refusal is remarked, and the batch written all the
    /// same; a missing database has nothing and needs no remark.
    private func ask(
        _ request: HTTPRequest, _ receipt: inout OutputReceipt
    ) throws(OutputFault) -> [UInt8] {
        // Any status is an answer here, and its words are to be told.
        let answer = try client.post(request, tokenWord: "Token", where: { _ in true })
        let words = ServerWords.text(of: answer.body, hiding: client.secrets)
        let reason = "\(answer.status), \(words ?? "no reason given")"
        if let fault = HTTPFault.common(answer, at: client.target, hiding: client.secrets) {
            questionFault = reason
            client.heed(answer, fault)
            throw fault
        }
        let isJSON = answer.body.first == UInt8(ascii: "{")
        if answer.isSuccess, !isJSON || words == nil { return answer.body }
        let isUnmade = requests.create != nil && words?.contains("database not found") == true
        let mayNot = answer.status == 401 || answer.status == 403
        if !isUnmade { remark(reason, hint: mayNot ? "; let the user read" : "", &receipt) }
        return []
    }

    private func remark(_ reason: String, hint: String = "", _ receipt: inout OutputReceipt) {
        guard receipt.remarks.isEmpty else { return }
        receipt.remarks.append(
            "\(client.target) does not say which readings it has (\(reason)): those that are there "
                + "under other names, labels or units will be there twice" + hint)
    }

    // MARK: Parts

    private func write(
        _ readings: ArraySlice<OutputReading>, of batch: OutputBatch,
        _ receipt: inout OutputReceipt
    ) throws(OutputFault) {
        guard !readings.isEmpty else { return }
        let body = lines.body(readings, series: batch.series)
        var answer = try sent(body)
        if case .missing = answer {
            try makeDatabase()
            answer = try sent(body)
        }
        switch answer {
        case .written: return
        case .partlyRefused(let count, let why): receipt.refuse(count, why)
        case .disliked(let why) where readings.count == 1: receipt.refuse(1, why)
        case .disliked:
            let middle = readings.startIndex + readings.count / 2
            try write(readings[..<middle], of: batch, &receipt)
            try write(readings[middle...], of: batch, &receipt)
        case .missing:
            throw OutputFault(
                .unsuitable,
                "\(client.target): the database is missing, although it was just made; is it "
                    + "being deleted?")
        case .fault(let fault): throw fault
        }
    }

    private func sent(_ body: [UInt8]) throws(OutputFault) -> InfluxAnswer {
        let answer = try client.post(requests.write(body), tokenWord: "Token")
        return InfluxAnswer(answer, at: client.target, requests.place, hiding: client.secrets)
    }

    private func makeDatabase() throws(OutputFault) {
        guard let request = requests.create else { return }
        let answer = try client.post(request)
        let words = ServerWords.text(of: answer.body, hiding: client.secrets)
        guard answer.status != 200 || words != nil else { return }
        throw OutputFault(
            .refused,
            "\(client.target) has no such database, and the user may not create it "
                + "(\(words ?? "answer \(answer.status)")); make it with `CREATE DATABASE`, or "
                + "check database")
    }

    /// What was never written needs no deleting: then there may be no database yet.
    private func delete(_ redating: OutputRedating) throws(OutputFault) {
        let answer = try client.post(requests.delete(redating), tokenWord: "Token")
        let words = ServerWords.text(of: answer.body, hiding: client.secrets)
        if answer.isSuccess, words == nil || words?.contains("not found") == true { return }
        switch answer.status {
        case 401, 403:
            throw HTTPFault.refused(
                answer, at: client.target, hiding: client.secrets,
                advice: "a clock was corrected, and points with wrong times are to be deleted")
        default:
            throw OutputFault(
                .unsuitable,
                "\(client.target) did not delete points whose times were wrong "
                    + "(\(words ?? "answer \(answer.status)")); check url")
        }
    }
}

extension OutputReceipt {
    mutating func refuse(_ count: Int, _ why: String) {
        refusedCount += count
        refusal = refusal ?? why
    }
}
