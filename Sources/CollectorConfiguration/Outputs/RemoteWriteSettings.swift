import Configuration

/// `prometheus:` of an output: a server that takes Prometheus' remote write.
public struct RemoteWriteSettings: Equatable, Sendable {
    public var server: HTTPServer

    static let table = KeyTable(
        "prometheus", HTTPServer.keys(example: "http://10.0.0.2:9090/api/v1/write"))

    init(_ section: Section) {
        server = HTTPServer(section, allowsQuery: true)
    }
}
