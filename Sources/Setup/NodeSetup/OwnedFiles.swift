import DurableFiles
import Glibc

/// A user and a group by number.
struct Owner: Equatable {
    let user: uid_t
    let group: gid_t

    init(user: uid_t, group: gid_t) {
        self.user = user
        self.group = group
    }

    /// The account of this name; nil if there is none.
    init?(user name: String) {
        guard let entry = getpwnam(name) else { return nil }
        user = entry.pointee.pw_uid
        group = entry.pointee.pw_gid
    }
}

/// The kernel's files; those that are made belong to somebody from their first moment, before
/// anything is in them and before they have their name.
struct OwnedFiles: FileOperations {
    /// Nil: who made them.
    let owner: Owner?
    private let files = SystemFiles()

    init(owner: Owner?) { self.owner = owner }

    func open(_ path: String, for purpose: FilePurpose) throws(FileError) -> OpenFile {
        let file = try files.open(path, for: purpose)
        guard purpose != .reading, let owner else { return file }
        guard fchown(file.number, owner.user, owner.group) == 0 else {
            let failure = Self.fault("chown", path)
            files.close(file)
            throw failure
        }
        return file
    }

    func makeDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try files.makeDirectory(path, permissions: permissions)
        guard let owner else { return }
        guard lchown(path, owner.user, owner.group) == 0 else { throw Self.fault("chown", path) }
    }

    func read(_ file: OpenFile, count: Int) throws(FileError) -> [UInt8] {
        try files.read(file, count: count)
    }

    func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int {
        try files.write(bytes, to: file)
    }

    func permissions(of file: OpenFile) throws(FileError) -> UInt32 {
        try files.permissions(of: file)
    }

    func read(
        _ file: OpenFile, at offset: Int, count: Int
    ) throws(FileError) -> [UInt8] {
        try files.read(file, at: offset, count: count)
    }

    func truncate(_ path: String, to byteCount: Int) throws(FileError) {
        try files.truncate(path, to: byteCount)
    }

    func list(_ directory: String) throws(FileError) -> [String] { try files.list(directory) }

    func synchronize(_ file: OpenFile) throws(FileError) { try files.synchronize(file) }

    func close(_ file: OpenFile) { files.close(file) }

    func rename(_ source: String, to destination: String) throws(FileError) {
        try files.rename(source, to: destination)
    }

    func synchronizeDirectory(_ path: String) throws(FileError) {
        try files.synchronizeDirectory(path)
    }

    func remove(_ path: String) throws(FileError) { try files.remove(path) }

    private static func fault(_ operation: String, _ path: String) -> FileError {
        FileError(operation: operation, path: path, code: errno)
    }
}
