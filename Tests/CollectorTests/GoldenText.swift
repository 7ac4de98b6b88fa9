import Glibc

/// The text of Vectors/`name`.txt.
func golden(_ name: String, directoryOf file: StaticString = #filePath) -> String {
    let source = "\(file)"
    let directory = source[..<(source.lastIndex(of: "/") ?? source.startIndex)]
    guard let stream = fopen("\(directory)/Vectors/\(name).txt", "r") else { return "" }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var byte = fgetc(stream)
    while byte != EOF {
        bytes.append(UInt8(truncatingIfNeeded: byte))
        byte = fgetc(stream)
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension String {
    func replacingNewlines(with end: String) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).joined(separator: end)
    }
}
