import DurableFiles
import NearbyDTLS

/// What people do with an identity while no node runs.
extension NodeIdentity {
    /// The identity that is in the state directory already, wherever it was made; nil if there is
    /// none.
    public static func stored(
        stateDirectory: String, through files: some FileOperations = SystemFiles()
    ) throws(IdentityError) -> NodeIdentity? {
        let path = file(in: stateDirectory)
        guard let stored = try read(path, files) else { return nil }
        return NodeIdentity(try parse(stored, path: path).1)
    }

    /// `rivulet identity adopt`: binds the identity that is there to this board.
    public static func adopt(
        stateDirectory: String, root: String = "",
        through files: some FileOperations = SystemFiles()
    ) throws(IdentityError) -> NodeIdentity {
        let path = file(in: stateDirectory)
        do {
            guard let stored = try read(path, files) else {
                throw IdentityError.missing(path: path)
            }
            let (_, key) = try parse(stored, path: path)
            let text = text(of: key, on: BoardBinding(root: root, through: files))
            try AtomicFile.write(text, to: path, permissions: 0o600, through: files)
            return NodeIdentity(key)
        } catch let error as IdentityError {
            throw error
        } catch let error as FileError {
            throw .unreadable(path: path, error)
        } catch {
            throw .damaged(path: path, what: "\(error)")
        }
    }
}
