import NearbyCore
import Telemetry

/// What is asked of an InfluxDB, in either version's API.
public struct InfluxRequests: Sendable {
    public enum Place: Hashable, Sendable {
        /// Version 1. The policy is empty for the standard.
        case database(String, policy: String)
        /// Version 2.
        case bucket(String, organisation: String)
    }

    public let place: Place
    private let measurement: String

    public init(_ place: Place, measurement: String) {
        self.place = place
        self.measurement = measurement
    }

    public func write(_ lines: [UInt8]) -> HTTPRequest {
        let type = "text/plain; charset=utf-8"
        switch place {
        case .database(let database, let policy):
            let policy = policy.isEmpty ? [] : [HTTPRequest.Parameter("rp", policy)]
            return HTTPRequest(
                path: "/write", query: [.init("db", database), .init("precision", "ns")] + policy,
                contentType: type, body: lines)
        case .bucket(let bucket, let organisation):
            return HTTPRequest(
                path: "/api/v2/write",
                query: [
                    .init("org", organisation), .init("bucket", bucket), .init("precision", "ns"),
                ], contentType: type, body: lines)
        }
    }

    /// Makes the database; nil in version 2, where that is not for programs.
    public var create: HTTPRequest? {
        guard case .database(let database, _) = place else { return nil }
        return .form(path: "/query", [.init("q", "CREATE DATABASE \(Self.identifier(database))")])
    }

    /// Removes the points that readings of a run with former times have.
    public func delete(_ redating: OutputRedating) -> HTTPRequest {
        let times = LineProtocol.timestamps(redating.formerUTC)
        switch place {
        case .database(let database, _):
            let statement =
                "DELETE FROM \(Self.identifier(measurement)) WHERE "
                + "\"peer\" = '\(redating.peer)' AND \"run\" = '\(redating.run)' AND "
                + "time >= \(times.lowerBound) AND time <= \(times.upperBound)"
            return .form(path: "/query", [.init("db", database), .init("q", statement)])
        case .bucket(let bucket, let organisation):
            let predicate =
                "_measurement=\(Self.string(measurement)) AND peer=\\\"\(redating.peer)\\\" AND "
                + "run=\\\"\(redating.run)\\\""
            // The end is left out there.
            let body =
                "{\"start\":\"\(InfluxTime.text(times.lowerBound))\","
                + "\"stop\":\"\(InfluxTime.text(times.upperBound + 1))\","
                + "\"predicate\":\"\(predicate)\"}"
            return HTTPRequest(
                path: "/api/v2/delete",
                query: [.init("org", organisation), .init("bucket", bucket)],
                contentType: "application/json", body: Array(body.utf8))
        }
    }

    /// Asks which of these readings are there, under whatever tags, for `InfluxPresence.add`.
    public func present(_ question: InfluxPresence.Question) -> HTTPRequest {
        // CSV is shorter. It does not show a statement's error: `anyPresent` asks in JSON.
        var request = select(question, "")
        request.headers = ["Accept: application/csv"]
        return request
    }

    /// Asks whether any of them is there, for `InfluxPresence.isAny`.
    public func anyPresent(_ question: InfluxPresence.Question) -> HTTPRequest {
        select(question, " LIMIT 1")
    }

    /// Version 2 takes InfluxQL, too; a DBRP mapping makes the bucket a database there.
    private func select(_ question: InfluxPresence.Question, _ limit: String) -> HTTPRequest {
        let node = question.node
        let (numbers, times) = (question.numbers, question.times)
        var statement =
            "SELECT \"sequence\" FROM \(Self.identifier(measurement)) WHERE "
            + "\"peer\" = '\(node.peer)' AND \"run\" = '\(node.run)'"
        statement += " AND \"sequence\" >= \(numbers.lowerBound)"
        statement += " AND \"sequence\" <= \(numbers.upperBound)"
        statement += " AND time >= \(times.lowerBound) AND time <= \(times.upperBound)" + limit
        var parameters: [HTTPRequest.Parameter] = [.init("epoch", "ns"), .init("q", statement)]
        switch place {
        case .database(let database, let policy):
            parameters.append(.init("db", database))
            if !policy.isEmpty { parameters.append(.init("rp", policy)) }
        case .bucket(let bucket, _): parameters.append(.init("db", bucket))
        }
        return .form(path: "/query", parameters)
    }

    /// A name in InfluxQL.
    static func identifier(_ name: String) -> String { LineProtocol.quoted(name) }

    /// A string in a predicate, within a string of JSON.
    private static func string(_ text: String) -> String {
        LineProtocol.quoted(text).unicodeScalars
            .map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }
}

/// A time as version 2 wants it (RFC 3339), nanoseconds and all.
enum InfluxTime {
    static func text(_ utc: Int64) -> String {
        let time = CivilTime(utc)
        return "\(time.date)T\(time.clock).\(time.nanosecond.padded(to: 9))Z"
    }
}
