import DurableFiles
import NearbyCore

extension NodeIdentity {
    /// An identity whose key somebody else keeps, as PEM: bound to no board.
    public static func load(key path: String) throws(IdentityError) -> NodeIdentity {
        guard let stored = try read(path, SystemFiles()) else {
            throw .noKey(path: path, what: "there is no such file")
        }
        do {
            return NodeIdentity(try KeyPair.parse(key: stored))
        } catch {
            throw .noKey(path: path, what: error.text)
        }
    }

    /// The same, with certificates of an authority for its key.
    public func certified(by authority: Authority) -> NodeIdentity {
        NodeIdentity(key, ephemeral: ephemeral, diagnostics: diagnostics, authority: authority)
    }
}
