import NearbyCore

/// How far a file is, in a line.
public struct ProgressText: Sendable {
    public var name: String
    public var completed: Int64
    public var total: Int64
    public var bytesPerSecond: Int64?

    public init(name: String, completed: Int64, total: Int64, bytesPerSecond: Int64?) {
        self.name = name
        self.completed = completed
        self.total = total
        self.bytesPerSecond = bytesPerSecond
    }

    /// `data.bin  42 %  410.2 MB of 976.5 MB  35.1 MB/s  0:16 left`, in at most so many columns:
    /// the name gives way, then what is last.
    public func line(columns: Int) -> String {
        var parts = ["\(percent) %", "\(ByteText.text(completed)) of \(ByteText.text(total))"]
        if let rate = bytesPerSecond { parts.append("\(ByteText.text(rate))/s") }
        if let seconds = remainingSeconds {
            parts.append("\(ByteText.clock(seconds: seconds)) left")
        }
        while parts.count > 1, width(parts) + Self.nameColumns > columns { parts.removeLast() }
        let room = max(columns - width(parts), 1)
        return ([Self.fitted(ReadableText.replacing(name, with: "?"), room)] + parts)
            .joined(separator: "  ")
    }

    /// 100 only when nothing is missing.
    public var percent: Int64 {
        guard total > 0 else { return 100 }
        return min(completed, total) < total ? Int64(Double(completed) / Double(total) * 100) : 100
    }

    private var remainingSeconds: Int64? {
        guard let rate = bytesPerSecond, rate > 0, completed < total else { return nil }
        return (total - completed + rate - 1) / rate
    }

    private func width(_ parts: [String]) -> Int {
        parts.reduce(0) { $0 + TextWidth.columns($1) + 2 }
    }

    private static func fitted(_ text: String, _ columns: Int) -> String {
        guard TextWidth.columns(text) > columns else { return text }
        var text = text
        while TextWidth.columns(text) > columns - 1, !text.isEmpty { text.removeLast() }
        return text + "…"
    }

    private static let nameColumns = 12
}
