import CPostgres
import Glibc
import Outputs

/// A connection through libpq that never waits longer than its time limit: a server that hangs
/// answers neither us nor its own timers.
final class PostgresConnection {
    private let connection: OpaquePointer
    private let timeLimit: Duration
    private let place: String

    /// Connects.
    /// - Parameters:
    ///   - parameters: libpq's keywords and their values.
    ///   - place: for messages.
    init(
        _ parameters: [(keyword: String, value: String)], timeLimit: Duration, place: String
    ) throws(OutputFault) {
        self.timeLimit = timeLimit
        self.place = place
        var keywords = parameters.map { UnsafePointer(strdup($0.keyword)) }
        var values = parameters.map { UnsafePointer(strdup($0.value)) }
        keywords.append(nil)
        values.append(nil)
        defer {
            for pointer in keywords + values { free(UnsafeMutablePointer(mutating: pointer)) }
        }
        guard let connection = PQconnectStartParams(keywords, values, 0) else {
            throw OutputFault(.unavailable, "\(place): no memory for a connection")
        }
        self.connection = connection
        // So that a refusal names its SQLSTATE: nothing else tells it before there is a connection.
        PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        // Where it throws, `deinit` closes: everything is stored.
        try finishConnecting()
        PQsetErrorVerbosity(connection, PQERRORS_TERSE)
        PQsetnonblocking(connection, 1)
    }

    deinit { PQfinish(connection) }

    /// As the server calls it, such as `server_encoding`.
    func parameter(_ name: String) -> String {
        PQparameterStatus(connection, name).map { String(cString: $0) } ?? ""
    }

    private func finishConnecting() throws(OutputFault) {
        let deadline = Deadline(after: timeLimit)
        guard PQstatus(connection) != CONNECTION_BAD else { throw connectingFault() }
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
            try wait(for: Int16(events), until: deadline)
            state = PQconnectPoll(connection)
            if state == PGRES_POLLING_FAILED { throw connectingFault() }
        }
    }

    private func connectingFault() -> OutputFault {
        let message = String(cString: PQerrorMessage(connection))
        let (state, words) = PostgresFault.splitting(message)
        return PostgresFault.fault(state: state, message: words, place: place)
    }

    // MARK: Statements

    /// What the last of the statements answered: rows of columns, nil for null.
    /// - Parameters:
    ///   - sql: several statements only without values.
    ///   - values: for $1, $2, ….
    @discardableResult
    func execute(_ sql: String, _ values: [String] = []) throws(OutputFault) -> [[String?]] {
        let deadline = Deadline(after: timeLimit)
        try send(sql, values)
        return try answer(until: deadline)
    }

    /// In one transaction. It is rolled back where `body` throws.
    func transaction<Value>(
        _ body: (PostgresConnection) throws(OutputFault) -> Value
    ) throws(OutputFault) -> Value {
        try execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        let value: Value
        do throws(OutputFault) {
            value = try body(self)
        } catch {
            // Without a connection there is nothing left to roll back.
            _ = try? execute("ROLLBACK")
            throw error
        }
        try execute("COMMIT")
        return value
    }

    /// - Parameters:
    ///   - sql: `COPY … FROM STDIN`.
    ///   - rows: in the text format.
    func copy(_ sql: String, _ rows: [UInt8]) throws(OutputFault) {
        let deadline = Deadline(after: timeLimit)
        try send(sql, [])
        try flush(until: deadline)
        try waitForResult(until: deadline)
        guard let result = PQgetResult(connection) else { throw lost() }
        let status = PQresultStatus(result)
        let refusal = status == PGRES_COPY_IN ? nil : fault(of: result)
        PQclear(result)
        if let refusal {
            _ = try? answer(until: deadline)
            throw refusal
        }
        var rest = rows[...]
        while !rest.isEmpty {
            let part = rest.prefix(64 * 1_024)
            try put(part, until: deadline)
            rest = rest.dropFirst(part.count)
        }
        while PQputCopyEnd(connection, nil) == 0 { try flush(until: deadline) }
        try answer(until: deadline)
    }

    private func put(_ bytes: ArraySlice<UInt8>, until deadline: Deadline) throws(OutputFault) {
        while true {
            let answer = bytes.withUnsafeBytes { buffer in
                PQputCopyData(
                    connection, buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(buffer.count))
            }
            if answer == 1 { return }
            guard answer == 0 else { throw lost() }
            try flush(until: deadline)
        }
    }

    private func send(_ sql: String, _ values: [String]) throws(OutputFault) {
        let isSent: Int32
        if values.isEmpty {
            isSent = PQsendQuery(connection, sql)
        } else {
            let pointers = values.map { UnsafePointer(strdup($0)) }
            defer { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
            isSent = PQsendQueryParams(
                connection, sql, Int32(values.count), nil, pointers, nil, nil, 0)
        }
        guard isSent == 1 else { throw lost() }
    }

    // MARK: Waiting

    private func flush(until deadline: Deadline) throws(OutputFault) {
        while true {
            let left = PQflush(connection)
            if left == 0 { return }
            guard left == 1 else { throw lost() }
            // The server may want to be read before it goes on reading.
            try wait(for: Int16(POLLIN | POLLOUT), until: deadline)
            guard PQconsumeInput(connection) == 1 else { throw lost() }
        }
    }

    private func waitForResult(until deadline: Deadline) throws(OutputFault) {
        while PQisBusy(connection) == 1 {
            try wait(for: Int16(POLLIN), until: deadline)
            guard PQconsumeInput(connection) == 1 else { throw lost() }
        }
    }

    /// Reads all results; the first that is an error counts.
    @discardableResult
    private func answer(until deadline: Deadline) throws(OutputFault) -> [[String?]] {
        try flush(until: deadline)
        var rows: [[String?]] = []
        var refusal: OutputFault?
        while true {
            try waitForResult(until: deadline)
            guard let result = PQgetResult(connection) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            case PGRES_TUPLES_OK: rows = Self.rows(of: result)
            case PGRES_COPY_IN: throw lost()
            default: refusal = refusal ?? fault(of: result)
            }
            if PQstatus(connection) == CONNECTION_BAD { break }
        }
        if let refusal { throw refusal }
        return rows
    }

    private func wait(for events: Int16, until deadline: Deadline) throws(OutputFault) {
        var descriptor = pollfd(fd: PQsocket(connection), events: events, revents: 0)
        while true {
            let milliseconds = deadline.millisecondsLeft
            guard milliseconds > 0 else {
                throw OutputFault(
                    .unavailable, "\(place): no answer within \(timeLimit.components.seconds) s")
            }
            let count = poll(&descriptor, 1, milliseconds)
            if count > 0 { return }
            if count < 0, errno != EINTR { throw lost() }
        }
    }

    // MARK: Answers

    private static func rows(of result: OpaquePointer) -> [[String?]] {
        let columns = 0..<PQnfields(result)
        return (0..<PQntuples(result)).map { row in
            columns.map { column in
                PQgetisnull(result, row, column) == 1
                    ? nil : String(cString: PQgetvalue(result, row, column))
            }
        }
    }

    private func fault(of result: OpaquePointer) -> OutputFault {
        let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
        let message = String(cString: PQresultErrorMessage(result))
        return PostgresFault.fault(state: state, message: message, place: place)
    }

    private func lost() -> OutputFault {
        PostgresFault.fault(
            state: nil, message: String(cString: PQerrorMessage(connection)), place: place)
    }
}

/// A moment of CLOCK_MONOTONIC.
private struct Deadline {
    private let nanoseconds: Int64

    init(after duration: Duration) {
        let (seconds, attoseconds) = duration.components
        nanoseconds = Self.now + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Rounded up; 0 when it has passed.
    var millisecondsLeft: Int32 {
        Int32(clamping: max(0, (nanoseconds - Self.now + 999_999) / 1_000_000))
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
