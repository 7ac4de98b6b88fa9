import Glibc

/// The bytes of a golden vector in `Vectors` beside the calling file: hexadecimal pairs; `#` begins
/// a comment.
public func vector(_ name: String, directoryOf file: StaticString = #filePath) -> [UInt8] {
    let source = "\(file)"
    let directory = source[..<(source.lastIndex(of: "/") ?? source.startIndex)]
    guard let stream = fopen("\(directory)/Vectors/\(name).hex", "r") else { return [] }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), stream) != nil {
        let text = String(
            decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let digits = text.prefix { $0 != "#" }.filter(\.isHexDigit)
        var rest = digits[...]
        while rest.count >= 2 {
            bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
    }
    return bytes
}
