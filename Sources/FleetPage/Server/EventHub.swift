import CMicroHTTPD
import Fleet
import NearbyCore
import NearbyLinux

/// Tells all pages once a second what is new: one thread makes the text, and each reader takes it
/// as fast as its connection does.
final class EventHub: Sendable {
    private struct State {
        var log = EventLog()
        var readers: [ObjectIdentifier: EventReader] = [:]
        var isStopping = false
        var lastEvent = Instant(nanoseconds: 0)
    }

    private static let readersMax = 160
    /// A comment after so long without news, so that dead connections are found.
    private static let silence: Duration = .seconds(15)

    private let board: FleetBoard
    private let state = Monitor(State())

    init(_ board: FleetBoard) { self.board = board }

    /// Nil if too many read.
    func reader(on connection: OpaquePointer) -> EventReader? {
        state.change { state in
            guard !state.isStopping, state.readers.count < Self.readersMax else { return nil }
            if state.readers.isEmpty, let latest = board.latest {
                _ = state.log.add(latest, now: MonotonicClock.now())
            }
            let reader = EventReader(connection, self)
            state.readers[ObjectIdentifier(reader)] = reader
            return reader
        }
    }

    // MARK: Readers, on libmicrohttpd's thread

    func read(_ reader: EventReader, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.change { state in
            if state.isStopping { return BodyEnd.done }
            if reader.pending.isEmpty, let next = state.log.next(after: &reader.place) {
                reader.pending = next[...]
            }
            if reader.pending.isEmpty {
                reader.isSuspended = true
                MHD_suspend_connection(reader.connection)
                return 0
            }
            let count = min(buffer.count, reader.pending.count)
            buffer.copyBytes(from: reader.pending.prefix(count))
            reader.pending = reader.pending.dropFirst(count)
            return count
        }
    }

    func remove(_ reader: EventReader) {
        state.change { state in
            state.readers[ObjectIdentifier(reader)] = nil
            if state.readers.isEmpty { state.log.clear() }
        }
    }

    // MARK: The thread

    /// Until `stop`. False if the system has no thread.
    func start() -> Bool {
        startThread { [self] in
            while state.wait(
                milliseconds: 1_000, until: \.isStopping, { tick(&$0) })
            {}
        }
    }

    /// All readers come to their end.
    func stop() {
        state.change { state in
            state.isStopping = true
            wake(&state)
        }
    }

    private func tick(_ state: inout State) -> Bool {
        guard !state.isStopping else { return false }
        guard !state.readers.isEmpty else { return true }
        let now = MonotonicClock.now()
        if let latest = board.latest, state.log.add(latest, now: now) {
            state.lastEvent = now
            wake(&state)
        } else if now - state.lastEvent >= Self.silence {
            state.lastEvent = now
            for reader in state.readers.values where reader.pending.isEmpty {
                reader.pending = Array(":\n\n".utf8)[...]
            }
            wake(&state)
        }
        return true
    }

    private func wake(_ state: inout State) {
        for reader in state.readers.values where reader.isSuspended {
            reader.isSuspended = false
            MHD_resume_connection(reader.connection)
        }
    }
}

/// A page that is open. All of it is guarded by the hub's lock.
final class EventReader: BodySource, @unchecked Sendable {
    let connection: OpaquePointer
    private let hub: EventHub
    /// As far as it has read; nil: nothing yet.
    var place: UInt64?
    /// What waits for room in the connection.
    var pending: ArraySlice<UInt8> = []
    var isSuspended = false

    init(_ connection: OpaquePointer, _ hub: EventHub) {
        self.connection = connection
        self.hub = hub
    }

    func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int { hub.read(self, buffer) }

    func close() { hub.remove(self) }
}
