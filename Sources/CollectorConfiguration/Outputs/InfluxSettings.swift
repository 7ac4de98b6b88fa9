import Configuration
import NearbyCore

/// `influx:` of an output.
public struct InfluxSettings: Equatable, Sendable {
    /// Where the points go.
    public enum Place: Equatable, Sendable {
        /// Version 1: a database, which is made if it is missing. `policy`: empty for the standard.
        case database(String, policy: String)
        /// Version 2.
        case bucket(String, organisation: String)
    }

    public var server: HTTPServer
    public var place: Place
    public var measurement: String

    static let table = KeyTable(
        "influx",
        HTTPServer.keys(example: "http://127.0.0.1:8086") + [
            Key(
                "database", .text(1...255), .described("`bucket`"),
                "InfluxDB 1.x: the database. It is created if it is missing and the user may."),
            Key(
                "retention-policy", .text(1...255), .described("the database's own"),
                "With `database`: the retention policy that points are written under."),
            Key(
                "bucket", .text(1...255), .described("`database`"),
                "InfluxDB 2.x: the bucket, with `org` and `token-file`."),
            Key("org", .text(1...255), .described("none"), "With `bucket`: the organisation."),
            Key(
                "measurement", .text(1...255), .value("reading"),
                "The measurement of all points."),
        ])

    init(_ section: Section) {
        server = HTTPServer(section, allowsQuery: false)
        measurement = section.text("measurement") ?? ""
        if measurement.hasSuffix("\\") || measurement.hasPrefix("#") {
            section.add(
                "measurement",
                "measurement ends with \\ or begins with #: InfluxDB cannot store that")
        }
        switch (section.text("database"), section.text("bucket"), section.text("org")) {
        case (let database?, nil, nil):
            place = .database(database, policy: section.text("retention-policy") ?? "")
        case (nil, let bucket?, let organisation?):
            place = .bucket(bucket, organisation: organisation)
            if section.node("retention-policy") != nil {
                section.add("retention-policy", "a bucket has its own retention; leave it out")
            }
        default:
            place = .database("", policy: "")
            section.add(
                "database",
                "influx needs database (InfluxDB 1.x), or bucket and org (InfluxDB 2.x)")
        }
        checkLogin(section)
    }

    private func checkLogin(_ section: Section) {
        switch (place, server.login) {
        case (.database, .token):
            section.add("token", "InfluxDB 1.x has no tokens; use user and password-file")
        case (.bucket, .password):
            section.add("user", "InfluxDB 2.x has no passwords for this; use token-file")
        default: break
        }
    }
}
