import Glibc
import NearbyCore
import NearbyLinux
import NearbyTransfers

/// A file that is not whole yet, below the folder for such files, `$RIVULET_NEARBY_FILES`, else
/// `$XDG_CACHE_HOME/nearby`, else `~/.cache/nearby`. Its name is made of the sender and the
/// content's key, never of what the sender calls it: so a transfer goes on where it ended, also
/// after a restart. A text beside it, `….part.about`, says what it belongs to.
final class PartFile {
    let file: FileDescriptor
    /// Bytes that are there already.
    let byteCount: Int64
    private let path: String

    /// - Throws: `.unavailable` where there is no place.
    init(of peer: Peer, _ offer: ResourceOffer, in folder: String?) throws(NearbyError) {
        let folder = try Self.folder(folder)
        let name = "\(folder)/\(peer.id)-\(Self.digits(offer.key))"
        for number in 0..<Self.sameFilesMax {
            let path = number == 0 ? "\(name).part" : "\(name)-\(number).part"
            let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
            let raw = open(path, flags, 0o600)
            guard let file = try? FileDescriptor(taking: raw, from: "open") else {
                throw NearbyError(
                    .unavailable, "\(path): \(String(cString: strerror(errno))); free some space",
                    end: .writeFailed)
            }
            // Somebody else is at it: another process, or another transfer of the same content.
            guard flock(raw, LOCK_EX | LOCK_NB) == 0 else { continue }
            guard var count = file.byteCount else { continue }
            if count > offer.byteCount {
                ftruncate(raw, 0)
                count = 0
            }
            (self.file, self.path, self.byteCount) = (file, path, count)
            if count == 0 { describe(offer, of: peer) }
            return
        }
        throw NearbyError(.unavailable, "the same file comes too often at once", end: .full)
    }

    /// Puts it where the next transfer of the same content does not find it.
    ///
    /// - Returns: its path, if that could be done.
    func complete() -> String? {
        var random = SystemRandomNumberGenerator()
        let final = path + "-" + String(random.next(), radix: 36)
        unlink(path + Self.about)
        return rename(path, final) == 0 ? final : nil
    }

    /// Whether the disk has room for what is missing of so many bytes, as far as it says.
    func hasRoom(for total: Int64) -> Bool {
        var status = statvfs()
        guard fstatvfs(file.raw, &status) == 0 else { return true }
        let (free, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize))
        return overflow || free >= UInt64(max(0, total - byteCount))
    }

    /// To what was there before this transfer; gone if that was nothing.
    func truncate() {
        guard byteCount > 0 else { return remove() }
        ftruncate(file.raw, off_t(byteCount))
    }

    func remove() {
        unlink(path)
        unlink(path + Self.about)
    }

    /// For people who find it: a full disk leaves it out.
    private func describe(_ offer: ResourceOffer, of peer: Peer) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
        let raw = open(path + Self.about, flags, 0o600)
        guard let file = try? FileDescriptor(taking: raw, from: "open") else { return }
        let text = """
            name: \(plainFileName(offer.name))
            bytes: \(offer.byteCount)
            from: \(plainFileName(peer.displayName)) (\(peer.id))

            """
        _ = file.write(Array(text.utf8), at: 0)
    }

    private static func folder(_ given: String?) throws(NearbyError) -> String {
        let home: String? = variable("HOME").map { $0 + "/.cache" }
        let cache: String? = (variable("XDG_CACHE_HOME") ?? home).map { $0 + "/nearby" }
        let wanted: String? = given ?? variable("RIVULET_NEARBY_FILES")
        let folder: String = wanted ?? cache ?? "/tmp/nearby-\(getuid())"
        let made = makeFolder(folder)
        var status = stat()
        guard lstat(folder, &status) == 0 else {
            throw NearbyError(
                .unavailable,
                "cannot create the folder \(folder): \(String(cString: strerror(made)))",
                end: .writeFailed)
        }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0
        else {
            let instead = given == nil ? ", or set RIVULET_NEARBY_FILES to another" : ""
            throw NearbyError(
                .unavailable,
                "\(folder): incoming files need a folder of your own that nobody else can read: "
                    + "`chmod 700` it\(instead)", end: .writeFailed)
        }
        removeOld(in: folder)
        return folder
    }

    /// - Returns: why it could not be made; 0 if it was.
    private static func makeFolder(_ path: String) -> Int32 {
        guard mkdir(path, 0o700) != 0 else { return 0 }
        guard errno == ENOENT, let folder = path.pathFolder, folder != "/" else { return errno }
        _ = makeFolder(folder)
        return mkdir(path, 0o700) == 0 ? 0 : errno
    }

    /// What nobody went on with for a week.
    private static func removeOld(in folder: String) {
        let now = time(nil)
        for name in names(in: folder) where name.contains(".part") {
            let path = "\(folder)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0, now - status.st_mtim.tv_sec > age else { continue }
            if unlink(path) != 0 { removeFolder(path) }
        }
    }

    /// A program that ended while it looked at a whole file leaves a folder with it.
    private static func removeFolder(_ path: String) {
        for name in names(in: path) { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    private static func names(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static let about = ".about"
    /// Seconds.
    private static let age = 7 * 86_400
    /// As many as may come at once from one peer.
    private static let sameFilesMax = Limits.resourcesMax
}

func removeFile(_ path: String) { unlink(path) }

/// The last part of a name from outside, without anything that could be a path or a control
/// character.
func plainFileName(_ name: String) -> String {
    // By scalars: a slash with an accent behind it is one character, and equals no slash; the file
    // system sees the slash.
    let parts = name.unicodeScalars.split { $0 == "/" || $0 == "\\" }
    let last = parts.last ?? "".unicodeScalars[...]
    let text = String(last.filter { $0.value >= 0x20 && $0.value != 0x7f })
    return text.isEmpty || text == "." || text == ".." ? "resource" : text
}
