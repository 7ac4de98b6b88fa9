import DurableFiles
import Fleet
import Glibc
import NearbyCore
import Outputs

/// JSON lines in a file, which is renamed when it is large.
///
/// After a crash what was delivered last comes again: lines that the file ends with are left out,
/// and half of a line is removed.
public final class JSONFileOutput: OutputSink {
    private let path: String
    private let sizeMax: Int
    private let filesMax: Int
    private var file: LineFile?
    private var written = WrittenLines()
    private var hasLearnt = false

    /// - Parameters:
    ///   - sizeMax: bytes, beyond which the file is renamed to `PATH.1`.
    ///   - filesMax: renamed files that are kept.
    public init(_ path: String, sizeMax: Int, filesMax: Int) {
        self.path = path
        self.sizeMax = sizeMax
        self.filesMax = filesMax
    }

    public func deliver(_ batch: OutputBatch) throws(OutputFault) -> OutputReceipt {
        let file = try opened()
        let lines = written.new(of: JSONLines.lines(batch))
        if !lines.isEmpty { try file.append(Array(lines.joined())) }
        if file.byteCount >= sizeMax { try rotate() }
        return OutputReceipt()
    }

    public func idle(_ fleet: FleetSnapshot) throws(OutputFault) { _ = try opened() }

    public func close() { file = nil }

    /// Again where others have renamed or removed it meanwhile.
    private func opened() throws(OutputFault) -> LineFile {
        if let file, file.isThere { return file }
        file = nil
        let opened = try LineFile(path)
        let end = try opened.repairedEnd(WrittenLines.byteCountMax)
        if !hasLearnt { learn(end) }
        file = opened
        return opened
    }

    /// Once, for what a run before this one wrote; a crash may have come just after a rotation.
    private func learn(_ end: [UInt8]) {
        hasLearnt = true
        written.learn(end[...])
        guard end.count < WrittenLines.byteCountMax, filesMax > 0,
            let former = try? LineFile(path + ".1", isNew: false),
            let rest = try? former.repairedEnd(WrittenLines.byteCountMax - end.count)
        else { return }
        written.learn(rest[...])
    }

    // MARK: Rotation

    private func rotate() throws(OutputFault) {
        file = nil
        if filesMax == 0 {
            guard unlink(path) == 0 else { throw fault("remove", path) }
        }
        for number in stride(from: filesMax, through: 1, by: -1) {
            let from = number == 1 ? path : "\(path).\(number - 1)"
            // Replaces the one that is too many.
            guard rename(from, "\(path).\(number)") == 0 || errno == ENOENT else {
                throw fault("rename", from)
            }
        }
        do {
            try SystemFiles().synchronizeDirectory(directory)
        } catch {
            throw LineFile.fault(error.operation, error.path, error.code, advice: "check the disk")
        }
    }

    private func fault(_ call: String, _ path: String) -> OutputFault {
        LineFile.fault(call, path, errno, advice: "check who may write in its folder")
    }

    private var directory: String { path.pathFolder ?? "." }
}
