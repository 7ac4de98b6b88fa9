import CSQLite
import Glibc

/// A connection to one SQLite file. Used by one thread at a time.
final class Database {
    /// `sealed`: reading a file that nobody writes, where SQLite can make no files beside it.
    enum Access { case writing, reading, sealed }

    let path: String
    let connection: OpaquePointer
    /// As the file was when it was opened, if it must not change.
    private let seal: StorePlace.Seal?

    /// Opens the file; made if it is missing and `access` is `.writing`. Nothing is read yet, so
    /// damage shows at the first statement.
    init(_ path: String, _ access: Access) throws(StoreError) {
        let flags =
            switch access {
            case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .reading: SQLITE_OPEN_READONLY
            case .sealed: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        let place = StorePlace(resolving: path)
        seal = access == .sealed ? place.seal : nil
        if access == .sealed, seal == nil { throw .changed(path: path) }
        let name = access == .sealed ? Self.immutableName(place.path) : path
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let opened else {
            let error = StoreError(code: code, of: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        self.path = path
        connection = opened
        sqlite3_busy_timeout(opened, Self.busyMilliseconds)
        _ = csqlite_defend(opened)
    }

    /// Whether the path leads to this file still, and the log beside it is there, or never was.
    func isInPlace(havingLog hadLog: inout Bool) -> Bool {
        var hasMoved: Int32 = 0
        sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        let name = sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? path
        let hasLog = access(name + "-wal", F_OK) == 0
        defer { hadLog = hadLog || hasLog }
        return hasMoved == 0 && (hasLog || !hadLog)
    }

    deinit { sqlite3_close_v2(connection) }

    /// A URI by which SQLite locks nothing and looks for no log (https://sqlite.org/uri.html). All
    /// bytes that could mean something in it are escaped.
    private static func immutableName(_ path: String) -> String {
        var name = "file:"
        for byte in path.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return name + "?immutable=1"
    }

    /// Throws `.changed` if somebody has written a sealed file, or may be about to: what was read
    /// of it since may be of several moments.
    func checkSeal() throws(StoreError) {
        guard let seal else { return }
        guard StorePlace(resolving: path).seal == seal else { throw .changed(path: path) }
    }

    /// How long a statement waits for another process before it fails with `.busy`.
    private static let busyMilliseconds: Int32 = 2_000

    /// Runs SQL without parameters; rows are passed over.
    func execute(_ sql: String) throws(StoreError) {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw StoreError(code: code, of: connection) }
    }

    func prepare(_ sql: String) throws(StoreError) -> Statement { try Statement(sql, on: self) }

    /// The first column of the first row; nil without a row.
    func integer(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    var changeCount: Int { Int(sqlite3_changes(connection)) }

    /// All of `body` or nothing. Afterwards no transaction is open, whatever happened.
    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try execute("BEGIN IMMEDIATE")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            // Some failures have rolled back already.
            if sqlite3_get_autocommit(connection) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// All of `body` or nothing, within a transaction, which goes on. Rethrows what is wrong with
    /// the file; returns what is wrong with what was to be written.
    func part(_ body: () throws(StoreError) -> Void) throws(StoreError) -> StoreError? {
        try execute("SAVEPOINT part")
        do throws(StoreError) {
            try body()
        } catch {
            guard error.isOfContent else { throw error }
            try execute("ROLLBACK TO part; RELEASE part")
            return error
        }
        try execute("RELEASE part")
        return nil
    }
}
