import CSQLite

/// A prepared statement. Bind, step, read columns, and bind again for the next use.
final class Statement {
    private let database: Database
    private let handle: OpaquePointer

    init(_ sql: String, on database: Database) throws(StoreError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(
            database.connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else {
            throw StoreError(code: code, of: database.connection)
        }
        self.database = database
        handle = prepared
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Running

    /// Runs it to its end; rows are passed over.
    func run() throws(StoreError) {
        defer { reset() }
        while try step() {}
    }

    /// Whether there is a row, whose columns can then be read. The caller resets when it leaves
    /// before the last row; an error and the end reset by themselves.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            reset()
            return false
        case let code:
            let error = StoreError(code: code, of: database.connection)
            reset()
            throw error
        }
    }

    /// Ends the statement's transaction; bound values stay.
    func reset() { sqlite3_reset(handle) }

    // MARK: Parameters, numbered from 1

    @discardableResult
    func bind(_ index: Int32, _ value: Int64) -> Statement {
        sqlite3_bind_int64(handle, index, value)
        return self
    }

    @discardableResult
    func bind(_ index: Int32, optional value: Int64?) -> Statement {
        if let value { return bind(index, value) }
        sqlite3_bind_null(handle, index)
        return self
    }

    @discardableResult
    func bind(_ index: Int32, real value: Double?) -> Statement {
        if let value {
            sqlite3_bind_double(handle, index, value)
        } else {
            sqlite3_bind_null(handle, index)
        }
        return self
    }

    @discardableResult
    func bind(_ index: Int32, _ text: String) -> Statement {
        var text = text
        text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) {
                _ = csqlite_bind_text(handle, index, $0.baseAddress, Int32(clamping: $0.count))
            }
        }
        return self
    }

    @discardableResult
    func bind(_ index: Int32, _ bytes: [UInt8]) -> Statement {
        bytes.withUnsafeBytes {
            _ = csqlite_bind_blob(handle, index, $0.baseAddress, Int32(clamping: $0.count))
        }
        return self
    }

    // MARK: Columns, numbered from 0

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// Zero for what is no number.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    func optionalReal(_ column: Int32) -> Double? {
        isNull(column) ? nil : sqlite3_column_double(handle, column)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// Bytes that are not UTF-8 are replaced.
    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
}
