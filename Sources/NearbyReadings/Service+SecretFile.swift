import Configuration
import Nearby

extension Service {
    /// A Rivulet network, whose secrets stand in a file as `rivulet secret` writes them: one a
    /// line, and nobody else may read it.
    ///
    /// - Parameter name: as `network:` in the agents' configuration.
    /// - Throws: `.invalidParameter` with what is wrong with name or file.
    public init(network name: String, secretFile path: String) throws(NearbyError) {
        switch Secret.load(path) {
        case .success(let secrets): try self.init(network: name, secrets: secrets)
        case .failure(let fault): throw NearbyError(.invalidParameter, "\(path): \(fault)")
        }
    }
}
