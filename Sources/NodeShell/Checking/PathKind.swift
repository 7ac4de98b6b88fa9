import Glibc

/// What a path leads to.
enum PathKind {
    case file, folder, device, socket, pipe, other

    /// Nil if there is nothing, or it cannot be reached.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFCHR, S_IFBLK: .device
            case S_IFSOCK: .socket
            case S_IFIFO: .pipe
            default: .other
            }
    }

    var text: String {
        switch self {
        case .file: "a file"
        case .folder: "a folder"
        case .device: "a device"
        case .socket: "a socket"
        case .pipe: "a pipe"
        case .other: "neither file nor folder"
        }
    }
}
