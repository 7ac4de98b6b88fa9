import Glibc
import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// Plays back a recording: CSV whose first column `time` is in seconds, or a date, and whose other
/// columns are channels, `name` or `name [unit]`. Starts over at the end.
///
/// The file is read as it is needed. A line that cannot be used, or goes back in time, is passed
/// over and counted, with its number.
public final class ReplayDriver: SensorDriver {
    public let name: String
    private let path: String
    private let speed: Int
    private let state = Mutex(State())
    /// Apart from the state, which is locked while a sample is taken.
    private let badLines = Mutex((count: 0, last: 0))
    private let lastFault = Mutex<String?>(nil)

    private struct State {
        var reader: LineReader?
        var columns: [(name: String, unit: String)] = []
        /// When the playback began, and the recording's first time.
        var began: Int64 = 0
        var first: Int64?
        /// The time of the line read last.
        var last = Int64.min
        var next: Row?
    }

    private struct Row {
        var milliseconds: Int64
        var cells: ArraySlice<String>
    }

    /// Lines that one sample reads at most; what is left waits for the next.
    static let linesPerSampleMax = 100_000

    public init(file path: String, speed: Int) {
        self.path = path
        self.speed = max(1, speed)
        name = "replay \(path)"
    }

    public var diagnostic: String? {
        let (count, last) = badLines.withLock { $0 }
        return count == 0 ? nil : "\(count) bad lines, the last is line \(last)"
    }

    public var fault: String? { lastFault.withLock { $0 } }

    /// What is wrong with a recording, as far as its first line shows, or its columns.
    public static func columns(of path: String) -> Result<
        [(name: String, unit: String)], RecordingFault
    > {
        open(path).map(\.columns)
    }

    /// The newest row that is due; nothing while none is.
    public func sample() -> [Measurement] { sample(atMilliseconds: Self.now()) }

    func sample(atMilliseconds now: Int64) -> [Measurement] {
        state.withLock { state in
            if state.reader == nil, let fault = begin(&state, now) {
                return [Measurement("replay", "1", .null(fault))]
            }
            let (elapsed, overflow) = (now - state.began).multipliedReportingOverflow(
                by: Int64(speed))
            var due: Row?
            for _ in 0..<Self.linesPerSampleMax {
                if state.next == nil, !read(&state) { break }
                guard let row = state.next else { continue }
                let first = state.first ?? row.milliseconds
                state.first = first
                guard overflow || row.milliseconds.subtractingSaturating(first) <= elapsed else {
                    break
                }
                due = row
                state.next = nil
            }
            return due.map { measurements($0, state.columns) } ?? []
        }
    }

    private func measurements(
        _ row: Row, _ columns: [(name: String, unit: String)]
    ) -> [Measurement] {
        zip(columns, row.cells).compactMap { column, cell in
            cell.isEmpty ? nil : Measurement(column.name, column.unit, number: cell)
        }
    }

    /// Opens the file and reads the names of its columns; nil if all is well.
    private func begin(_ state: inout State, _ now: Int64) -> NullReason? {
        switch Self.open(path) {
        case .failure(let fault):
            lastFault.withLock { $0 = fault.description }
            return fault.reason
        case .success(let opened):
            state.reader = opened.reader
            state.columns = opened.columns
        }
        lastFault.withLock { $0 = nil }
        state.began = now
        state.first = nil
        state.last = .min
        return nil
    }

    private static func open(
        _ path: String
    ) -> Result<(reader: LineReader, columns: [(name: String, unit: String)]), RecordingFault> {
        guard let reader = LineReader(path) else { return .failure(RecordingFault(code: errno)) }
        guard case .text(let line) = reader.next(),
            // What spreadsheets put in front of UTF-8.
            let names = Recording.cells(
                line.hasPrefix("\u{feff}") ? String(line.dropFirst()) : line),
            names.first?.lowercased() == "time"
        else {
            return .failure(
                RecordingFault(
                    reason: .malformed,
                    description: "its first line must name the columns, the first of them time"))
        }
        guard (2...Limits.channelsPerSensorMax + 1).contains(names.count) else {
            return .failure(
                RecordingFault(
                    reason: .malformed,
                    description: "it has \(names.count - 1) columns beside time; it must have 1 to "
                        + "\(Limits.channelsPerSensorMax)"))
        }
        return .success((reader, names.dropFirst().map(Recording.column)))
    }

    /// Reads one line into `next`, if it is a good one; false at the end, where the file is closed.
    private func read(_ state: inout State) -> Bool {
        guard let line = state.reader?.next() else {
            state.reader = nil
            return false
        }
        if line == .text("") { return true }
        if case .text(let text) = line, let cells = Recording.cells(text),
            cells.count == state.columns.count + 1,
            let milliseconds = Recording.milliseconds(cells[0]), milliseconds >= state.last
        {
            state.last = milliseconds
            state.next = Row(milliseconds: milliseconds, cells: cells[1...])
        } else {
            let number = state.reader?.lineNumber ?? 0
            badLines.withLock { $0 = ($0.count &+ 1, number) }
        }
        return true
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Why a recording cannot be played back.
public struct RecordingFault: Error, CustomStringConvertible {
    let reason: NullReason
    public let description: String

    init(reason: NullReason, description: String) {
        self.reason = reason
        self.description = description
    }

    /// - Parameter code: errno's after the file was opened.
    init(code: Int32) {
        switch code {
        case EISDIR:
            self.init(
                reason: .malformed, description: "a folder, a device or a pipe, not a file")
        case EACCES, EPERM:
            self.init(reason: .denied, description: String(cString: strerror(code)))
        default: self.init(reason: .absent, description: String(cString: strerror(code)))
        }
    }
}
