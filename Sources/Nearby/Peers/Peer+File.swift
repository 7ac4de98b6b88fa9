import DurableFiles

extension Peer {
    /// The peer of this name that is kept in a file, or a new one that is from now on: a program
    /// that makes a new peer at each start looks like many to the others.
    ///
    /// - Parameters:
    ///   - displayName: 1 to 63 bytes of UTF-8.
    ///   - path: holds what `archive` gives. The key is elsewhere, as always; where that is
    ///     missing, or the file holds another name, a new peer takes its place.
    /// - Throws: `.invalidParameter` for the name, `.unavailable` if the file cannot be read or
    ///   written.
    public init(displayName: String, keptIn path: String) throws(NearbyError) {
        do throws(FileError) {
            if let bytes = try AtomicFile.read(path, limit: 4_096, through: SystemFiles()),
                let kept = try? Peer(archive: bytes), kept.key != nil,
                kept.displayName == displayName
            {
                self = kept
                return
            }
        } catch {
            throw NearbyError(.unavailable, "\(path): the peer cannot be read: \(error)")
        }
        try self.init(displayName: displayName)
        let archive = try archive()
        do throws(FileError) {
            try AtomicFile.write(archive, to: path, permissions: 0o600, through: SystemFiles())
        } catch {
            throw NearbyError(.unavailable, "\(path): the peer cannot be kept: \(error)")
        }
    }
}
