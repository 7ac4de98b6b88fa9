import CMicroHTTPD
import Collector
import Fleet
import Store

/// Readings as CSV, while they are read: a thread fills a small buffer, the connection empties it,
/// and neither is more than the buffer ahead.
final class ExportStream: BodySource, @unchecked Sendable {
    private struct State {
        var buffer: [UInt8] = []
        var isSuspended = false
        /// The other side reads no more.
        var isClosed = false
        var end: Int?
    }

    private static let bufferMax = 256 << 10
    /// Of a reader that takes nothing.
    private static let patience: Int64 = 60_000

    private let connection: OpaquePointer
    private let state = Monitor(State())

    init(_ connection: OpaquePointer) { self.connection = connection }

    // MARK: The connection

    func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.change { state in
            if state.buffer.isEmpty {
                if let end = state.end { return end }
                state.isSuspended = true
                MHD_suspend_connection(connection)
                return 0
            }
            let count = min(buffer.count, state.buffer.count)
            buffer.copyBytes(from: state.buffer.prefix(count))
            state.buffer.removeFirst(count)
            return count
        }
    }

    func close() { state.change { $0.isClosed = true } }

    // MARK: The thread that fills it

    func fill(_ query: ExportQuery, from desk: StoreDesk) {
        var printer = StorePrinter(.csv)
        var shownSeries = ShownSeries(desk.words)
        var text = Array(printer.header(.readings).utf8)
        do throws(StoreError) {
            try desk.withReader { reader throws(StoreError) in
                var query = query
                for index in query.channels.indices {
                    query.channels[index] = try reader.storedChannel(
                        query.channels[index], of: query.peer, desk.words)
                }
                try reader.readings(StoreQuery(query)) { series, reading in
                    guard query.channels.isEmpty || query.channels.contains(series.channel) else {
                        return true
                    }
                    let (shown, map) = shownSeries.shown(series)
                    var reading = reading
                    reading.outcome = map(reading.outcome)
                    text += printer.line(shown, reading).utf8
                    guard text.count >= 16_384 else { return true }
                    defer { text = [] }
                    return put(text)
                }
            }
            finish(text, BodyEnd.done)
        } catch {
            // The other side sees that it is not whole.
            finish([], BodyEnd.broken)
        }
    }

    /// Waits for room; false if nobody makes any.
    private func put(_ text: [UInt8]) -> Bool {
        state.wait(
            milliseconds: Self.patience,
            until: { $0.isClosed || $0.buffer.count < Self.bufferMax },
            { state in
                guard !state.isClosed, state.buffer.count < Self.bufferMax else {
                    state.end = BodyEnd.broken
                    resume(&state)
                    return false
                }
                state.buffer += text
                resume(&state)
                return true
            })
    }

    private func finish(_ text: [UInt8], _ end: Int) {
        state.change { state in
            state.buffer += text
            state.end = state.end ?? end
            resume(&state)
        }
    }

    private func resume(_ state: inout State) {
        guard state.isSuspended else { return }
        state.isSuspended = false
        MHD_resume_connection(connection)
    }
}

extension StoreQuery {
    /// Names of channels are compared by whoever reads: they may look like patterns.
    init(_ query: ExportQuery) {
        self.init(query.peer, query.range)
        channels = query.channels.map { Glob($0) }
    }
}
