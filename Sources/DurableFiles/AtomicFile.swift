/// Small whole files that are either the old ones or the new ones, also when the power goes.
public enum AtomicFile {
    /// Writes beside the path, makes the bytes durable, and puts them in place: temporary file,
    /// fsync, rename, fsync of the directory. After an error the old file is there, or the new one
    /// is whole.
    public static func write(
        _ bytes: [UInt8], to path: String, permissions: UInt32, through files: some FileOperations
    ) throws(FileError) {
        let temporary = path + ".tmp"
        do {
            let file = try files.open(temporary, for: .replacing(permissions: permissions))
            defer { files.close(file) }
            try fill(file, with: bytes, through: files, path: temporary)
            try files.synchronize(file)
        } catch {
            try? files.remove(temporary)
            throw error.at(temporary)
        }
        do {
            try files.rename(temporary, to: path)
        } catch {
            try? files.remove(temporary)
            throw error
        }
        try files.synchronizeDirectory(parentDirectory(of: path) ?? ".")
    }

    /// The whole file; nil if there is none. A file of more than `limit` bytes is refused with
    /// EFBIG.
    public static func read(
        _ path: String, limit: Int, through files: some FileOperations
    ) throws(FileError) -> [UInt8]? {
        guard let file = try openIfThere(path, files) else { return nil }
        defer { files.close(file) }
        return try content(of: file, path, limit: limit, through: files)
    }

    /// As `read`, with the permission bits of the very file that was read: nobody can exchange it
    /// in between.
    public static func readWithPermissions(
        _ path: String, limit: Int, through files: some FileOperations
    ) throws(FileError) -> (bytes: [UInt8], permissions: UInt32)? {
        guard let file = try openIfThere(path, files) else { return nil }
        defer { files.close(file) }
        let permissions: UInt32
        do { permissions = try files.permissions(of: file) } catch { throw error.at(path) }
        return (try content(of: file, path, limit: limit, through: files), permissions)
    }

    private static func openIfThere(
        _ path: String, _ files: some FileOperations
    ) throws(FileError) -> OpenFile? {
        do {
            return try files.open(path, for: .reading)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    private static func content(
        of file: OpenFile, _ path: String, limit: Int, through files: some FileOperations
    ) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let part: [UInt8]
            do { part = try files.read(file, count: limit + 1 - bytes.count) } catch {
                throw error.at(path)
            }
            if part.isEmpty { return bytes }
            bytes += part
            if bytes.count > limit { throw FileError.tooLarge(path) }
        }
    }

    private static func fill(
        _ file: OpenFile, with bytes: [UInt8], through files: some FileOperations,
        path: String
    ) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = try files.write(rest, to: file)
            guard taken > 0 else { throw FileError.tookNothing(path) }
            rest = rest.dropFirst(taken)
        }
    }
}

extension FileError {
    /// The same failure with the path filled in where the call had only a descriptor.
    fileprivate func at(_ path: String) -> FileError {
        self.path.isEmpty ? FileError(operation: operation, path: path, code: code) : self
    }
}
