import Glibc
import NearbyCore
import Synchronization

@testable import Sensors

/// A folder in place of /, in which a test builds /sys as the kernel does: devices under
/// /sys/devices, and links to them under their class or bus. Removed with everything in it.
final class SysfsTree: Sendable {
    let root: String

    init() {
        var template = Array("/tmp/rivulet-sysfs-XXXXXX".utf8CString)
        root = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit { Self.remove(root) }

    /// Writes files into a folder below the root, which is made where it is not.
    func write(_ folder: String, _ files: [String: String]) {
        makeFolder(folder)
        for (name, text) in files {
            var path = folder.split(separator: "/") + name.split(separator: "/")
            let last = path.removeLast()
            makeFolder(path.joined(separator: "/"))
            let file = "\(root)/\(path.joined(separator: "/"))/\(last)"
            let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
            _ = text.withCString { Glibc.write(descriptor, $0, strlen($0)) }
            close(descriptor)
        }
    }

    /// A device with its attributes, and the link to it from its class or bus.
    func device(_ folder: String, as link: String, _ files: [String: String]) {
        write(folder, files)
        makeFolder(link.split(separator: "/").dropLast().joined(separator: "/"))
        symlink("\(root)/\(folder)", "\(root)/\(link)")
    }

    func read(_ path: String) -> String? {
        (try? SensorFile.read("\(root)/\(path)", limit: 4_096).get()).map(SensorFile.trimmed)
    }

    func remove(_ path: String) { Self.remove("\(root)/\(path)") }

    func makeFolder(_ folder: String) {
        var path = root
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            mkdir(path, 0o755)
        }
    }

    private static func remove(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            for name in SensorFile.names(in: path) { remove("\(path)/\(name)") }
            rmdir(path)
        } else {
            unlink(path)
        }
    }
}

/// A clock that stands until it is put forward.
final class ManualClock: Sendable {
    private let time = Mutex(Instant(nanoseconds: 1_000_000_000))

    func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }

    var read: @Sendable () -> Instant { { self.time.withLock { $0 } } }
}

/// Writes one text after the other into a FIFO, each for a reader of its own.
final class WriterThread: Sendable {
    private let id: pthread_t

    private final class Work {
        let path: String
        let texts: [String]
        init(_ path: String, _ texts: [String]) { (self.path, self.texts) = (path, texts) }
    }

    init(path: String, texts: [String]) {
        var id = pthread_t()
        pthread_create(
            &id, nil,
            { context in
                guard let context else { return nil }
                let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                for text in work.texts {
                    let file = open(work.path, O_WRONLY | O_CLOEXEC)
                    _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
                    close(file)
                    // Until the reader has found the end of the file.
                    usleep(50_000)
                }
                return nil
            }, Unmanaged.passRetained(Work(path, texts)).toOpaque())
        self.id = id
    }

    func join() { pthread_join(id, nil) }
}
