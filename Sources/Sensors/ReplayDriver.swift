import Glibc
import NearbyCore
import Synchronization
import Telemetry

/// Plays back a recording: CSV whose first column `time` is in seconds and whose other columns are
/// channels, `name` or `name [unit]`. Starts over at the end.
///
/// The file is read as it is needed. A bad line is passed over and counted, with its number.
public final class ReplayDriver: SensorDriver {
    public let name: String
    private let path: String
    private let speed: Int
    private let state = Mutex(State())

    private struct State {
        var reader: LineReader?
        var columns: [(name: String, unit: String)] = []
        /// When the playback began, and the recording's first time.
        var began: Int64 = 0
        var first: Int64?
        var next: Row?
        var badLines = 0
        var lastBadLine = 0
    }

    private struct Row {
        var milliseconds: Int64
        var cells: [Substring]
    }

    public init(file path: String, speed: Int) {
        self.path = path
        self.speed = max(1, speed)
        name = "replay \(path)"
    }

    /// Lines that could not be used, and the number of the last of them.
    public var badLines: (count: Int, last: Int) {
        state.withLock { ($0.badLines, $0.lastBadLine) }
    }

    /// The newest row that is due; nothing while none is.
    public func sample() -> [Measurement] { sample(atMilliseconds: Self.now()) }

    func sample(atMilliseconds now: Int64) -> [Measurement] {
        state.withLock { state in
            guard state.reader != nil || begin(&state, now) else {
                return [Measurement("replay", "1", .null(.absent))]
            }
            var due: Row?
            while let row = state.next ?? read(&state) {
                state.next = row
                let first = state.first ?? row.milliseconds
                state.first = first
                let elapsed = (now - state.began).multipliedReportingOverflow(by: Int64(speed))
                    .partialValue
                guard row.milliseconds.subtractingSaturating(first) <= elapsed else { break }
                due = row
                state.next = nil
            }
            if state.next == nil { state.reader = nil }
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

    /// Opens the file and reads the names of its columns.
    private func begin(_ state: inout State, _ now: Int64) -> Bool {
        guard let reader = LineReader(path), let header = reader.next() else { return false }
        let names = header.split(separator: ",", omittingEmptySubsequences: false)
        guard names.first == "time", names.count <= Limits.channelsPerSensorMax else {
            return false
        }
        state.reader = reader
        state.columns = names.dropFirst().map(Self.column)
        state.began = now
        state.first = nil
        return true
    }

    /// `temperature [Cel]` is a name and a unit.
    private static func column(_ text: Substring) -> (name: String, unit: String) {
        guard text.last == "]", let open = text.lastIndex(of: "[") else {
            return (String(text), "1")
        }
        var name = text[..<open]
        while name.last == " " { name.removeLast() }
        return (String(name), String(text[text.index(after: open)...].dropLast()))
    }

    private func read(_ state: inout State) -> Row? {
        while let line = state.reader?.next() {
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            if let time = cells.first, let value = try? DecimalValue(parsing: time),
                let milliseconds = value.rescaled(to: -3)?.coefficient,
                cells.count == state.columns.count + 1
            {
                return Row(milliseconds: milliseconds, cells: Array(cells.dropFirst()))
            }
            state.badLines += 1
            state.lastBadLine = state.reader?.lineNumber ?? 0
        }
        return nil
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// A file, line by line; lines over 4,096 bytes are cut there.
final class LineReader {
    private let file: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private(set) var lineNumber = 0

    static let lineBytesMax = 4_096

    init?(_ path: String) {
        file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
    }

    deinit { close(file) }

    func next() -> String? {
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return text(buffer[start..<end])
            }
            guard !isAtEnd else {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return text(buffer[start...])
            }
            fill()
        }
    }

    private func text(_ line: ArraySlice<UInt8>) -> String {
        lineNumber += 1
        let bytes = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        return String(decoding: bytes.prefix(Self.lineBytesMax), as: UTF8.self)
    }

    private func fill() {
        buffer.removeFirst(start)
        start = 0
        // What is too long for a line is not kept.
        if buffer.count > 2 * Self.lineBytesMax {
            buffer.removeLast(buffer.count - Self.lineBytesMax)
        }
        var chunk = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &chunk, chunk.count)
        if count <= 0 { isAtEnd = true } else { buffer += chunk[..<count] }
    }
}
