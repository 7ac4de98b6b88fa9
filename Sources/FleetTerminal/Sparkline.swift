/// A line of small bars: how a channel went.
enum Sparkline {
    private static let bars: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// The last values, as many as there are columns; a gap where there was none. All alike is the
    /// lowest bar.
    static func text(_ values: some BidirectionalCollection<Double?>, columns: Int) -> String {
        let shown = Array(values.suffix(max(columns, 0)))
        let known = shown.compactMap { $0 }.filter(\.isFinite)
        guard let low = known.min(), let high = known.max() else { return "" }
        let span = high - low
        return String(
            shown.map { value -> Character in
                guard let value, value.isFinite else { return " " }
                guard span > 0, span.isFinite else { return bars[0] }
                let place = Int(((value - low) / span * Double(bars.count - 1)).rounded())
                return bars[min(max(place, 0), bars.count - 1)]
            })
    }
}
