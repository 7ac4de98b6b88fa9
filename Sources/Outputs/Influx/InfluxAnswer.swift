/// What an InfluxDB's answer to points means.
public enum InfluxAnswer: Hashable, Sendable {
    case written
    /// All but so many points were written; these never will be.
    case partlyRefused(count: Int, why: String)
    /// The database is not there.
    case missing
    /// One of the lines, or their number, is the trouble: to be tried in halves.
    case disliked(why: String)
    case fault(OutputFault)

    /// - Parameter answer: none of those that `HTTPFault.common` knows.
    public init(
        _ answer: HTTPAnswer, at target: String, _ place: InfluxRequests.Place,
        hiding secrets: [String] = []
    ) {
        let words = ServerWords.text(of: answer.body, hiding: secrets) ?? "no reason given"
        switch answer.status {
        case 204: self = .written
        case 400 where words.contains("partial write"), 422 where words.contains("dropped"):
            self = .partlyRefused(count: Self.dropped(words), why: words)
        case 400 where words.contains("unable to parse"), 413, 422: self = .disliked(why: words)
        case 401, 403:
            self = .fault(
                HTTPFault.refused(
                    answer, at: target, hiding: secrets, advice: Self.rights(place)))
        case 404 where words.contains("database not found"): self = .missing
        case 404: self = .fault(Self.missing(target, place, words))
        default:
            self = .fault(
                OutputFault(
                    .unsuitable,
                    "\(target) answered \(answer.status) to points (\(words)); is that an "
                        + "InfluxDB of this version?"))
        }
    }

    private static func rights(_ place: InfluxRequests.Place) -> String {
        switch place {
        case .database(let database, _):
            "check user and password-file, and `GRANT ALL ON \"\(database)\" TO` the user"
        case .bucket(let bucket, _):
            "check token-file: its token needs the rights to read and write the bucket \(bucket)"
        }
    }

    private static func missing(
        _ target: String, _ place: InfluxRequests.Place, _ words: String
    ) -> OutputFault {
        switch place {
        case .database:
            OutputFault(
                .unsuitable,
                "\(target) has no /write (\(words)); is that an InfluxDB 1.x? Check url")
        case .bucket(let bucket, let organisation):
            OutputFault(
                .unsuitable,
                "\(target): no bucket \(bucket) of \(organisation) (\(words)); make it with "
                    + "`influx bucket create`, or check org and bucket")
        }
    }

    /// The number behind `dropped=`; 1 where there is none.
    private static func dropped(_ words: String) -> Int {
        let mark = Array("dropped=".utf8)
        let bytes = Array(words.utf8)
        var count = 0
        for start in bytes.indices where bytes[start...].starts(with: mark) {
            let digits = bytes[(start + mark.count)...].prefix { (0x30...0x39).contains($0) }
            count = Int(String(decoding: digits.prefix(9), as: UTF8.self)) ?? 0
        }
        return max(count, 1)
    }
}
