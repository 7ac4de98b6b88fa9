import DurableFiles
import Glibc

extension StoreReader {
    /// A connection that reads, to a store of this version's.
    ///
    /// SQLite makes files beside a store even to read it. Where it cannot, as on a medium that is
    /// mounted read-only, the store is read without them, if nobody writes it.
    static func open(_ path: String) throws(StoreError) -> Database {
        try StoreFile.check(path)
        do throws(StoreError) {
            return try checked(try Database(path, .reading))
        } catch {
            if error.saysNotADatabase, !StoreFile.beginsAsDatabase(path) {
                throw .notADatabase(path: path)
            }
            let place = StorePlace(resolving: path)
            guard error.isForWantOfFiles, !place.takesFiles else { throw error }
            if place.hasLog { throw .logLeft(path: place.path) }
            guard place.seal != nil else { throw error }
            return try checked(try Database(path, .sealed))
        }
    }

    private static func checked(_ database: Database) throws(StoreError) -> Database {
        let path = database.path
        try Schema.check(database)
        guard try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0 > 0 else {
            throw .empty(path: path)
        }
        guard try database.integer("PRAGMA user_version") ?? 0 == Schema.version else {
            throw .older(path: path)
        }
        try database.checkSeal()
        return database
    }
}

/// A file that may be a store.
enum StoreFile {
    /// What can be said of the file before SQLite reads it, which takes one that is too short for
    /// an empty database.
    ///
    /// Nothing is opened for it: who closes a file gives back all locks that the process has on it
    /// (fcntl(2)), and in the collector's process these are also the store's.
    static func check(_ path: String) throws(StoreError) {
        var status = stat()
        if stat(path, &status) != 0 {
            let code = errno
            if code == ENOENT || code == ENOTDIR { throw .missing(path: path) }
            throw .file(FileError(operation: "open", path: path, code: code))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        if access(path, R_OK) != 0 {
            let code = errno
            throw .file(FileError(operation: "open", path: path, code: code))
        }
        if status.st_size == 0 { throw .empty(path: path) }
        if status.st_size < 512 { throw .notADatabase(path: path) }
    }

    /// Of a file that SQLite calls no database, for which it has no locks.
    static func beginsAsDatabase(_ path: String) -> Bool {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var head = [UInt8](repeating: 0, count: 16)
        let count = read(file, &head, head.count)
        return count == head.count && head == Array("SQLite format 3\0".utf8)
    }
}
