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

    /// The first line of the answer to a request.
    public func ask(_ request: String) throws(StartError) -> String {
        do {
            return try client.request(request).first ?? ""
        } catch {
            throw StartError(error)
        }
    }

    /// The status: everything as JSON, or what people look at first.
    public func text(json: Bool) throws(StartError) -> String {
        do {
            return try client.request(json ? "status" : "summary").joined(separator: "\n")
        } catch {
            throw StartError(error)
        }
    }
}
