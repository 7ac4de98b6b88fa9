import Glibc

/// The kernel's files.
public struct SystemFiles: FileOperations, Sendable {
    public init() {}

    public func open(_ path: String, for purpose: FilePurpose) throws(FileError) -> OpenFile {
        switch purpose {
        case .reading:
            let number = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            try check(number, "open", path)
            return OpenFile(number: number)
        case .replacing(let permissions):
            let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
            let number = Glibc.open(path, flags, mode_t(permissions))
            try check(number, "open", path)
            let file = OpenFile(number: number)
            guard fchmod(number, mode_t(permissions)) == 0 else {
                let failure = FileError(operation: "fchmod", path: path, code: errno)
                close(file)
                throw failure
            }
            return file
        }
    }

    public func read(_ file: OpenFile, count: Int) throws(FileError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            var got = Glibc.read(file.number, buffer.baseAddress, buffer.count)
            while got < 0, errno == EINTR {
                got = Glibc.read(file.number, buffer.baseAddress, buffer.count)
            }
            if got < 0 { code = errno }
            filled = max(0, got)
        }
        guard code == 0 else { throw FileError(operation: "read", path: "", code: code) }
        return bytes
    }

    public func read(
        _ file: OpenFile, at offset: Int, count: Int
    ) throws(FileError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
            var got = pread(file.number, buffer.baseAddress, buffer.count, offset)
            while got < 0, errno == EINTR {
                got = pread(file.number, buffer.baseAddress, buffer.count, offset)
            }
            if got < 0 { code = errno }
            filled = max(0, got)
        }
        guard code == 0 else { throw FileError(operation: "pread", path: "", code: code) }
        return bytes
    }

    public func permissions(of file: OpenFile) throws(FileError) -> UInt32 {
        var status = stat()
        try check(fstat(file.number, &status), "fstat", "")
        return UInt32(status.st_mode) & 0o7777
    }

    public func truncate(_ path: String, to byteCount: Int) throws(FileError) {
        try check(Glibc.truncate(path, byteCount), "truncate", path)
    }

    public func list(_ directory: String) throws(FileError) -> [String] {
        guard let stream = opendir(directory) else {
            throw FileError(operation: "opendir", path: directory, code: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    public func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int {
        let taken = bytes.withUnsafeBytes { buffer in
            var taken = Glibc.write(file.number, buffer.baseAddress, buffer.count)
            while taken < 0, errno == EINTR {
                taken = Glibc.write(file.number, buffer.baseAddress, buffer.count)
            }
            return taken
        }
        guard taken >= 0 else { throw FileError(operation: "write", path: "", code: errno) }
        return taken
    }

    public func synchronize(_ file: OpenFile) throws(FileError) {
        try check(fsync(file.number), "fsync", "")
    }

    public func close(_ file: OpenFile) { _ = Glibc.close(file.number) }

    public func rename(_ source: String, to destination: String) throws(FileError) {
        try check(Glibc.rename(source, destination), "rename", destination)
    }

    public func synchronizeDirectory(_ path: String) throws(FileError) {
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try check(number, "open", path)
        defer { _ = Glibc.close(number) }
        try check(fsync(number), "fsync", path)
    }

    public func remove(_ path: String) throws(FileError) { try check(unlink(path), "unlink", path) }

    public func makeDirectory(_ path: String, permissions: UInt32) throws(FileError) {
        try check(mkdir(path, mode_t(permissions)), "mkdir", path)
    }

    private func check(_ result: Int32, _ operation: String, _ path: String) throws(FileError) {
        if result < 0 { throw FileError(operation: operation, path: path, code: errno) }
    }
}

extension FileError: CustomStringConvertible {
    /// "rename /var/lib/rivulet/identity.pem: Read-only file system"
    public var description: String {
        let reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
        return path.isEmpty ? "\(operation): \(reason)" : "\(operation) \(path): \(reason)"
    }

    /// ENOENT
    public var isMissing: Bool { code == ENOENT || code == ENOTDIR }
    /// EEXIST
    var isExisting: Bool { code == EEXIST }
    /// EACCES or EPERM
    public var isForbidden: Bool { code == EACCES || code == EPERM }
}

extension FileError {
    /// EFBIG: more bytes than anybody wrote there.
    static func tooLarge(_ path: String) -> FileError {
        FileError(operation: "read", path: path, code: EFBIG)
    }

    /// EIO: write(2) returned zero.
    static func tookNothing(_ path: String) -> FileError {
        FileError(operation: "write", path: path, code: EIO)
    }
}
