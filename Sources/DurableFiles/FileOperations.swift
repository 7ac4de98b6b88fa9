/// What this room asks of the file system, one member a system call, so that tests can make each
/// one fail.
///
/// Conformers: `SystemFiles`, and `FailingFiles` beside the tests. All calls may block.
public protocol FileOperations {
    /// open(2), close-on-exec; what it creates has exactly the given permissions, whatever the
    /// umask.
    func open(_ path: String, for purpose: FilePurpose) throws(FileError) -> OpenFile
    /// read(2): at most `count` bytes; empty at the end.
    func read(_ file: OpenFile, count: Int) throws(FileError) -> [UInt8]
    /// write(2): how many of the bytes were taken.
    func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int
    /// fstat(2): the permission bits of a file that was opened, 0–0o7777.
    func permissions(of file: OpenFile) throws(FileError) -> UInt32
    /// pread(2): at most `count` bytes from `offset` on; empty at the end.
    func read(_ file: OpenFile, at offset: Int, count: Int) throws(FileError) -> [UInt8]
    /// truncate(2): cuts the file to its first bytes.
    func truncate(_ path: String, to byteCount: Int) throws(FileError)
    /// readdir(3): the names in a directory, in ascending order, `.` and `..` left out.
    func list(_ directory: String) throws(FileError) -> [String]
    /// fsync(2)
    func synchronize(_ file: OpenFile) throws(FileError)
    /// close(2); nothing is reported, since what must be safe was synchronized before.
    func close(_ file: OpenFile)
    /// rename(2): replaces what is at `destination`.
    func rename(_ source: String, to destination: String) throws(FileError)
    /// fsync(2) of a directory: makes renames and removals in it durable.
    func synchronizeDirectory(_ path: String) throws(FileError)
    /// unlink(2)
    func remove(_ path: String) throws(FileError)
    /// mkdir(2)
    func makeDirectory(_ path: String, permissions: UInt32) throws(FileError)
}

/// What a file is opened for.
public enum FilePurpose: Equatable, Sendable {
    case reading
    /// Created if missing, emptied if there.
    case replacing(permissions: UInt32)
}

public struct OpenFile: Hashable, Sendable {
    public let number: Int32

    public init(number: Int32) { self.number = number }
}

/// A system call that failed: which, on what, and `errno`.
public struct FileError: Error, Hashable, Sendable {
    public let operation: String
    public let path: String
    public let code: Int32

    public init(operation: String, path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }
}

extension FileOperations {
    /// Makes a directory and those above it that are missing; one that is there is left as it is.
    public func makeDirectories(_ path: String, permissions: UInt32) throws(FileError) {
        do {
            try makeDirectory(path, permissions: permissions)
        } catch {
            if error.isExisting { return }
            guard error.isMissing, let parent = parentDirectory(of: path), parent != path else {
                throw error
            }
            try makeDirectories(parent, permissions: permissions)
            try makeDirectory(path, permissions: permissions)
        }
        try synchronizeDirectory(parentDirectory(of: path) ?? ".")
    }
}

/// The directory that holds `path`; nil for the root and for a bare name in the working directory.
///
/// By bytes, as the kernel reads it: to Swift a slash with a combining mark behind it is another
/// character.
func parentDirectory(of path: String) -> String? {
    let slash = UInt8(ascii: "/")
    var trimmed = path.utf8[...]
    while trimmed.count > 1, trimmed.last == slash { trimmed.removeLast() }
    guard let end = trimmed.lastIndex(of: slash), trimmed.count > 1 else { return nil }
    return end == trimmed.startIndex ? "/" : String(decoding: trimmed[..<end], as: UTF8.self)
}
