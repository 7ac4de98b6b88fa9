import DurableFiles
import Glibc

/// Files in memory, which never fail: what a fuzzer opens a hundred thousand times a second.
final class MemoryFiles: FileOperations {
    var contents: [String: [UInt8]] = [:]
    private var open: [Int32: (path: String, offset: Int)] = [:]
    private var last: Int32 = 0

    func open(_ path: String, for purpose: FilePurpose) throws(FileError) -> OpenFile {
        if purpose != .reading { contents[path] = [] }
        guard contents[path] != nil else {
            throw FileError(operation: "open", path: path, code: ENOENT)
        }
        last += 1
        open[last] = (path, 0)
        return OpenFile(number: last)
    }

    func read(_ file: OpenFile, count: Int) throws(FileError) -> [UInt8] {
        let bytes = try read(file, at: open[file.number]?.offset ?? 0, count: count)
        open[file.number]?.offset += bytes.count
        return bytes
    }

    func read(
        _ file: OpenFile, at offset: Int, count: Int
    ) throws(FileError) -> [UInt8] {
        guard let path = open[file.number]?.path, let bytes = contents[path] else {
            throw FileError(operation: "pread", path: "", code: EBADF)
        }
        return Array(bytes.dropFirst(offset).prefix(count))
    }

    func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(FileError) -> Int {
        guard let path = open[file.number]?.path else {
            throw FileError(operation: "write", path: "", code: EBADF)
        }
        contents[path, default: []] += bytes
        return bytes.count
    }

    func permissions(of file: OpenFile) throws(FileError) -> UInt32 { 0o600 }

    func truncate(_ path: String, to byteCount: Int) throws(FileError) {
        contents[path] = contents[path].map { Array($0.prefix(byteCount)) }
    }

    func list(_ directory: String) throws(FileError) -> [String] {
        contents.keys.filter { $0.hasPrefix(directory + "/") }
            .map { String($0.dropFirst(directory.count + 1)) }.sorted()
    }

    func rename(_ source: String, to destination: String) throws(FileError) {
        contents[destination] = contents[source]
        contents[source] = nil
    }

    func remove(_ path: String) throws(FileError) { contents[path] = nil }

    func close(_ file: OpenFile) { open[file.number] = nil }

    func synchronize(_ file: OpenFile) throws(FileError) {}

    func synchronizeDirectory(_ path: String) throws(FileError) {}

    func makeDirectory(_ path: String, permissions: UInt32) throws(FileError) {}
}
