import Collector
import Fleet
import NearbyCore
import NearbyLinux
import Store
import Synchronization
import Telemetry

/// Answers questions to the store, on threads that may wait for it; each with a read connection of
/// its own. What many pages ask is answered once.
final class StoreDesk: Sendable {
    /// One thread at a time has it.
    private struct Connection: @unchecked Sendable {
        let reader: StoreReader
        let since: Instant
    }

    private struct Answered: Sendable {
        let response: [UInt8]
        let until: Instant
    }

    private struct State: Sendable {
        var idle: [Connection] = []
        var answered: [PageQuery: Answered] = [:]
        var words: FleetWords
    }

    private static let connectionsMax = 3
    private static let answersMax = 256
    /// Then it is opened anew: the file may be another one by now.
    private static let connectionAge: Duration = .seconds(60)

    private let path: String?
    private let workers = WorkerPool(threads: 2, most: connectionsMax)
    private let state: Mutex<State>

    /// - Parameter path: nil without a store.
    init(path: String?, words: FleetWords) {
        self.path = path
        state = Mutex(State(words: words))
    }

    func change(words: FleetWords) {
        state.withLock { state in
            state.words = words
            state.answered = [:]
        }
    }

    var words: FleetWords { state.withLock { $0.words } }

    /// Answers on another thread, or at once if too many wait. `done` is called exactly once.
    func answer(_ query: PageQuery, _ done: @escaping @Sendable (PageResponse) -> Void) {
        guard path != nil else {
            return done(PageResponse(404, "this collector stores nothing"))
        }
        if let known = known(query) { return done(.json(known)) }
        let isTaken = workers.run { [self] in done(answerNow(query)) }
        if !isTaken {
            var busy = PageResponse(503, "too many requests at once; try again")
            busy.headers.append(("Retry-After", "5"))
            done(busy)
        }
    }

    private func known(_ query: PageQuery) -> [UInt8]? {
        let now = MonotonicClock.now()
        return state.withLock { state in
            state.answered[query].flatMap { $0.until > now ? $0.response : nil }
        }
    }

    private func answerNow(_ query: PageQuery) -> PageResponse {
        // Others may have asked the same while this one waited.
        if let known = known(query) { return .json(known) }
        do throws(StoreError) {
            let text = try withReader { reader throws(StoreError) in
                try StoreAnswer.text(query, reader, words: words)
            }
            keep(text, query)
            return .json(text)
        } catch {
            // Paths of this machine are not for everybody who looks at the page.
            return PageResponse(503, "the store cannot be read now; `rivulet status` says why")
        }
    }

    private func keep(_ text: [UInt8], _ query: PageQuery) {
        let now = MonotonicClock.now()
        state.withLock { state in
            if state.answered.count >= Self.answersMax {
                state.answered = state.answered.filter { $0.value.until > now }
            }
            guard state.answered.count < Self.answersMax else { return }
            state.answered[query] = Answered(response: text, until: now + .seconds(5))
        }
    }

    /// Lends a connection; one that failed is not used again.
    func withReader<Value>(
        _ body: (StoreReader) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let now = MonotonicClock.now()
        let idle = state.withLock { state in
            state.idle.removeAll { now - $0.since > Self.connectionAge }
            return state.idle.popLast()
        }
        let connection: Connection
        if let idle {
            connection = idle
        } else {
            connection = Connection(reader: try StoreReader(path ?? ""), since: now)
        }
        let value = try body(connection.reader)
        state.withLock { state in
            if state.idle.count < Self.connectionsMax { state.idle.append(connection) }
        }
        return value
    }
}
