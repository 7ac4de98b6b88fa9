import DurableFiles
import Glibc

/// Real files with a fault at one chosen call.
public final class FailingFiles: FileOperations {
    public enum Fault: Equatable, Sendable {
        case none
        /// Call number `call` (from 0) fails with this `errno`; all others work.
        case fail(call: Int, code: Int32)
        /// The power goes just before call number `call`: it and all after it fail, and what was
        /// not synchronized by then is damaged: files lose the second half of what was written
        /// since, renames may be undone, and new files gone.
        case stop(call: Int, undoesRenames: Bool)
    }

    /// How many calls were made, close excepted.
    public private(set) var calls = 0
    private let real = SystemFiles()
    private let fault: Fault
    private var stopped = false
    private var paths: [OpenFile: String] = [:]
    private var unsynchronized: [String] = []
    /// How long a file was when it was synchronized last.
    private var safeCounts: [String: Int] = [:]
    /// New files whose directory was not synchronized since.
    private var created: [String] = []
    private var renames: [(source: String, destination: String, replaced: [UInt8]?)] = []

    public init(_ fault: Fault = .none) { self.fault = fault }

    public func open(_ path: String, for purpose: FilePurpose) throws(FileError) -> OpenFile {
        try step("open", path)
        let isNew = purpose != .reading && access(path, F_OK) != 0
        let file = try real.open(path, for: purpose)
        paths[file] = path
        if purpose != .reading { safeCounts[path] = nil }
        if isNew { created.append(path) }
        return file
    }

    public func read(
        _ file: OpenFile, at offset: Int, count: Int
    ) throws(FileError) -> [UInt8] {
        try step("pread", "")
        return try real.read(file, at: offset, count: count)
    }

    public func permissions(of file: OpenFile) throws(FileError) -> UInt32 {
        try step("fstat", "")
        return try real.permissions(of: file)
    }

    public func truncate(_ path: String, to byteCount: Int) throws(FileError) {
        try step("truncate", path)
        try real.truncate(path, to: byteCount)
    }

    public func list(_ directory: String) throws(FileError) -> [String] {
        try step("opendir", directory)
        return try real.list(directory)
    }

    public func read(_ file: OpenFile, count: Int) throws(FileError) -> [UInt8] {
        try step("read", "")
        return try real.read(file, count: count)
    }

    public func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int {
        try step("write", "")
        if let path = paths[file], !unsynchronized.contains(path) { unsynchronized.append(path) }
        return try real.write(bytes, to: file)
    }

    public func synchronize(_ file: OpenFile) throws(FileError) {
        try step("fsync", "")
        try real.synchronize(file)
        if let path = paths[file] { safeCounts[path] = size(path) }
        unsynchronized.removeAll { $0 == paths[file] }
    }

    public func close(_ file: OpenFile) {
        paths[file] = nil
        real.close(file)
    }

    public func rename(_ source: String, to destination: String) throws(FileError) {
        try step("rename", destination)
        let replaced = try? AtomicFile.read(destination, limit: 1 << 20, through: real)
        try real.rename(source, to: destination)
        renames.append((source, destination, replaced))
        unsynchronized = unsynchronized.map { $0 == source ? destination : $0 }
        created = created.map { $0 == source ? destination : $0 }
        safeCounts[destination] = safeCounts.removeValue(forKey: source)
    }

    public func synchronizeDirectory(_ path: String) throws(FileError) {
        try step("fsync", path)
        try real.synchronizeDirectory(path)
        renames.removeAll { $0.destination.hasPrefix(path + "/") }
        created.removeAll { $0.hasPrefix(path + "/") }
    }

    public func remove(_ path: String) throws(FileError) {
        try step("unlink", path)
        try real.remove(path)
        unsynchronized.removeAll { $0 == path }
    }

    public func makeDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try step("mkdir", path)
        try real.makeDirectory(path, permissions: permissions)
    }

    private func step(_ operation: String, _ path: String) throws(FileError) {
        defer { calls += 1 }
        switch fault {
        case .fail(let call, let code) where call == calls:
            throw FileError(operation: operation, path: path, code: code)
        case .stop(let call, let undoesRenames) where call <= calls:
            if !stopped { losePower(undoesRenames: undoesRenames) }
            stopped = true
            throw FileError(operation: operation, path: path, code: EIO)
        default: return
        }
    }

    private func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    private func losePower(undoesRenames: Bool) {
        for path in unsynchronized {
            let safe = safeCounts[path] ?? 0
            try? real.truncate(path, to: safe + max(0, size(path) - safe) / 2)
        }
        guard undoesRenames else { return }
        for path in created where !renames.contains(where: { $0.destination == path }) {
            try? real.remove(path)
        }
        for step in renames.reversed() {
            try? real.rename(step.destination, to: step.source)
            guard let replaced = step.replaced else { continue }
            try? AtomicFile.write(replaced, to: step.destination, permissions: 0o600, through: real)
        }
    }
}

/// A directory of its own for the time of `body`.
///
/// - Parameter parent: /dev/shm, where it is there, is memory: much quicker for a test that makes
///   hundreds of directories and has its own faults.
public func withTemporaryDirectory<Result>(
    in parent: String = "/tmp", _ body: (String) throws -> Result
) rethrows -> Result {
    let folder = access(parent, W_OK) == 0 ? parent : "/tmp"
    var template = Array("\(folder)/rivulet-test-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { preconditionFailure("mkdtemp failed: \(errno)") }
    let path = String(cString: made)
    defer { removeTree(path) }
    return try body(path)
}

/// The names in a directory, sorted, without "." and "..".
public func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}

private func removeTree(_ path: String) {
    if unlink(path) == 0 { return }
    for name in names(in: path) { removeTree(path + "/" + name) }
    rmdir(path)
}
