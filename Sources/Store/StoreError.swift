import CSQLite
import Collector
import DurableFiles
import Glibc

/// Why the store did not do what it was asked for. After any of these the file holds what the last
/// successful commit left.
public enum StoreError: Error, Hashable, Sendable {
    /// No room: the disk, a quota or a file size limit. The same commit can succeed later.
    case full
    /// The file system or the file takes no writes.
    case readOnly
    /// The file is no intact database; what SQLite says of it.
    case damaged(String)
    /// Another process holds the file for writing.
    case busy
    /// A database of another program.
    case foreign(path: String)
    /// A file to be read is not there, has nothing in it, or is no database.
    case missing(path: String)
    case empty(path: String)
    case notADatabase(path: String)
    /// Written by a later version of this program.
    case newer(path: String, version: Int64)
    /// Written by an earlier version, and only read: a collector brings it up to date.
    case older(path: String)
    /// Where nothing can be written beside the store: its write-ahead log has what is not in it
    /// yet, and SQLite cannot read that without files of its own.
    case logLeft(path: String)
    /// The same place, read as a file that nobody writes, and now somebody does.
    case changed(path: String)
    /// The folder of a store to be written is not there, or takes no files.
    case folder(FileError)
    /// A call to the file system failed, or the path is nothing that a database can be.
    case file(FileError)
    case notAFile(path: String)
    /// SQLite's extended result code and message.
    case other(code: Int32, text: String)

    /// What went wrong in the last call on this connection.
    ///
    /// - Parameter code: the extended result code of that call.
    init(code: Int32, of connection: OpaquePointer?) {
        let text = connection.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
        let systemCode = connection.map { sqlite3_system_errno($0) } ?? 0
        switch code & 0xff {
        case SQLITE_FULL: self = .full
        case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(text)
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_IOERR where [ENOSPC, EDQUOT, EFBIG].contains(systemCode): self = .full
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            if systemCode == EROFS {
                self = .readOnly
            } else {
                let reason = systemCode == 0 ? "" : ": " + String(cString: strerror(systemCode))
                self = .other(code: code, text: text + reason)
            }
        default: self = .other(code: code, text: text)
        }
    }
}

extension StoreError {
    /// Whether the file's first bytes are no database's to SQLite.
    var saysNotADatabase: Bool {
        self == .damaged(String(cString: sqlite3_errstr(SQLITE_NOTADB)))
    }

    /// Whether SQLite could not make its files beside a store that is only read.
    var isForWantOfFiles: Bool {
        switch self {
        case .readOnly: true
        case .other(let code, _): code & 0xff == SQLITE_CANTOPEN
        default: false
        }
    }

    /// Whether what was to be written is at fault, and not the file: other rows can be written.
    var isOfContent: Bool {
        guard case .other(let code, _) = self else { return false }
        return [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG].contains(code & 0xff)
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .full: "no space left for the store"
        case .readOnly: "the store cannot be written: read-only"
        case .damaged(let text): "the store is damaged: \(text)"
        case .busy: "another process is writing to the store"
        case .foreign(let path): "\(path) is a database of another program"
        case .missing(let path): "\(path): there is no such file; does a collector store there?"
        case .empty(let path): "\(path) is empty: no collector has stored anything there yet"
        case .notADatabase(let path): "\(path) is not a store: it is not even a database"
        case .newer(let path, let version):
            "\(path) was written by a later version of rivulet (format \(version))"
        case .older(let path):
            "\(path) was written by an earlier version of rivulet; start the collector once"
        case .logLeft(let path):
            "\(path) cannot be read where it is: its newest readings are in \(path)-wal, and "
                + "nothing can be written beside them"
        case .changed(let path): "\(path) was written to while it was being read"
        case .folder(let error): Self.text(ofFolder: error)
        case .file(let error): error.description
        case .notAFile(let path): "\(path) is not a regular file"
        case .other(let code, let text): "\(text) (SQLite code \(code))"
        }
    }

    /// Which folder, what the system said, and what to do.
    private static func text(ofFolder error: FileError) -> String {
        let said = strerror(error.code).map { String(cString: $0) } ?? "error \(error.code)"
        let advice =
            switch error.code {
            case ENOENT: "create it for the collector's user"
            case EACCES, EPERM: "give it to the collector's user"
            case EROFS: "remount its file system read-write"
            default: "make sure that the collector's user can write there"
            }
        return "the store's folder \(error.path): \(said); \(advice), or set another path "
            + "(key `store`)"
    }
}
