import Glibc

/// A folder in memory in place of /, with files whose names and texts a fuzzer made up. Removed
/// with everything in it.
final class FileTree {
    let root: String
    /// Files, links and folders in the order in which they were made.
    private var made: [[CChar]] = []

    private static let nameBytesMax = 200

    init() {
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/rivulet-fuzz-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { preconditionFailure("no folder in \(parent)") }
        root = String(cString: path)
    }

    deinit {
        // What was made through a link goes before the link.
        for path in made.reversed() { remove(path) }
        rmdir(root)
    }

    /// `name=text` is a file, `name>path` a link to something in this tree; names are paths below
    /// `folder`, and anything else is passed over.
    func add(_ part: ArraySlice<UInt8>, in folder: String) {
        let isSeparator = { (byte: UInt8) in
            byte == UInt8(ascii: "=") || byte == UInt8(ascii: ">")
        }
        guard let separator = part.firstIndex(where: isSeparator),
            let file = makeWay(to: part[..<separator], in: folder)
        else { return }
        let rest = part[(separator + 1)...]
        if part[separator] == UInt8(ascii: "=") {
            write(Array(rest), to: file)
        } else if let names = Self.names(rest) {
            let target = names.reduce(into: Array(root.utf8)) { $0 += [UInt8(ascii: "/")] + $1 }
            if symlink(Self.path(target), file) == 0 { made.append(file) }
        }
    }

    private func write(_ text: [UInt8], to file: [CChar]) {
        // Never through a link, of which nobody knows where it leads.
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { return }
        made.append(file)
        _ = Glibc.write(descriptor, text, text.count)
        close(descriptor)
    }

    /// Makes the folders on the way; nil for a name that no file can have here.
    private func makeWay(to name: ArraySlice<UInt8>, in folder: String) -> [CChar]? {
        guard let names = Self.names(name) else { return nil }
        var path = Array(root.utf8)
        for name in folder.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
            + names.dropLast().map(Array.init)
        {
            path += [UInt8(ascii: "/")] + name
            let text = Self.path(path)
            if mkdir(text, 0o755) == 0 { made.append(text) }
        }
        return names.last.map { Self.path(path + [UInt8(ascii: "/")] + $0) }
    }

    private static func names(_ path: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        let names = path.split(separator: UInt8(ascii: "/"))
        let isGood = names.allSatisfy { name in
            !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8) && !name.contains(0)
        }
        return names.isEmpty || names.count > 8 || path.count > nameBytesMax || !isGood
            ? nil : names
    }

    private static func path(_ bytes: [UInt8]) -> [CChar] {
        (bytes + [0]).map { CChar(bitPattern: $0) }
    }
}
