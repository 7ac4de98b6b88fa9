import NodeShell
import Store

extension StoreError {
    /// For who reads the store: with its path, and what to do.
    func text(of path: String) -> String {
        switch self {
        case .damaged(let text):
            "\(path) is damaged: \(text); the collector sets a damaged store aside and begins a "
                + "new one"
        case .readOnly:
            "\(path): to read it, SQLite has to write files beside it; run this as the "
                + "collector's user, or copy the store to a folder of yours"
        case .changed:
            "\(description); try again, and if that fails too, run this as the collector's user"
        case .logLeft:
            "\(description); copy both files to a folder of your own and name that copy with "
                + "--store, or, unless the medium is read-only, run this as the collector's user"
        case .busy, .full, .other: "\(path): \(description)"
        case .foreign, .missing, .empty, .notADatabase, .newer, .older, .file, .folder,
            .notAFile:
            description
        }
    }

    /// What `rivulet query` ends with.
    var status: ExitStatus {
        switch self {
        case .missing: .noInput
        case .empty, .foreign, .notADatabase, .notAFile, .damaged, .newer, .older: .data
        case .readOnly, .logLeft: .notPermitted
        case .busy, .changed: .tryAgain
        case .file(let error), .folder(let error): ExitStatus(error)
        case .full, .other: .inputOutput
        }
    }
}
