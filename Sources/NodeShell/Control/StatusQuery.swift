import NearbyLinux

/// Asks a running node over its control socket.
public struct StatusQuery {
    private let client: ControlClient

    public init(socket path: String) throws(StartError) {
        do {
            client = try ControlClient(path: path)
        } catch {
            throw StartError(error)
        }
    }

    /// A connection to the first of these sockets where a node answers; throws what the first said.
    public init(anyOf paths: [String]) throws(StartError) {
        var fault: StartError?
        for path in paths {
            do throws(StartError) {
                self = try StatusQuery(socket: path)
                return
            } catch {
                fault = fault ?? error
            }
        }
        throw fault ?? StartError("no control socket", .unavailable)
    }

    /// The first line of the answer to a request.
    public func ask(
        _ request: String, timeout: Duration = .seconds(5)
    ) throws(StartError) -> String {
        do {
            return try client.request(request, timeout: timeout).first ?? ""
        } catch {
            throw StartError(error)
        }
    }

    /// The status: everything as JSON, or what people look at first, with counters if it is to be
    /// verbose.
    public func text(json: Bool, isVerbose: Bool = false) throws(StartError) -> String {
        do {
            let request = json ? "status" : isVerbose ? "summary verbose" : "summary"
            return try client.request(request).joined(separator: "\n")
        } catch {
            throw StartError(error)
        }
    }
}
