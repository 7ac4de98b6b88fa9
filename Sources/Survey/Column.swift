import Collector

/// Cells of tables whose texts may come from outside.
enum Column {
    /// Exactly so wide: filled up, or cut with `…`.
    static func fitted(_ text: String, _ columns: Int) -> String {
        PrintableText(text).fitted(to: columns)
    }

    static func right(_ text: String, _ columns: Int) -> String {
        PrintableText(text).fitted(to: columns, alignRight: true)
    }

    static func trimmed(_ line: String) -> String {
        var line = Substring(line)
        while line.last == " " { line.removeLast() }
        return String(line)
    }
}
