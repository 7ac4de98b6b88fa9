import COpenSSL
import DurableFiles
import NearbyCore

extension Identity {
    /// The identity that is in the state directory already, wherever it was made; nil if there is
    /// none.
    public static func stored(
        stateDirectory: String, through files: some FileOperations = SystemFiles()
    ) throws(IdentityError) -> Identity? {
        let path = file(in: stateDirectory)
        guard let stored = try read(path, files) else { return nil }
        return Identity(try parse(stored, path: path).1)
    }

    /// An identity whose key somebody else keeps, as PEM: bound to no board.
    public static func load(
        key path: String, through files: some FileOperations = SystemFiles()
    ) throws(IdentityError) -> Identity {
        guard let stored = try read(path, files) else { throw .noKey(path: path, what: nil) }
        do {
            return Identity(try KeyPair.parse(key: stored))
        } catch {
            throw .noKey(path: path, what: error.text)
        }
    }

    /// The same, with certificates of an authority for its key.
    public func certified(by authority: Authority) -> Identity {
        Identity(key, ephemeral: ephemeral, notices: notices, authority: authority)
    }
}
