import NearbyCore

/// What the stored windows of a boot lie by, when the dating of its readings has changed.
///
/// Mappings are refined all the time, so windows may lie a little beside what readings are dated
/// by. Only readings that would then lie further off than `shift` are laid anew, and so only the
/// windows which these leave and enter.
struct WindowLayout: Hashable {
    /// Stretches beyond; then windows lie exactly by the dating again.
    static let stretchesMax = 256

    /// What windows lie by from now on.
    let stretches: Stretches
    /// The numbers of windows that are to be laid anew: ascending and apart.
    let moved: [ClosedRange<Int64>]
    /// The board's time that has another offset than before, or has one for the first time:
    /// ascending and apart.
    let spans: [MovedSpan]

    struct MovedSpan: Hashable {
        /// Of the board's clock.
        var milliseconds: Range<Int64>
        /// Nil where there was none.
        var formerOffset: Int64?
    }

    /// - Parameters:
    ///   - old: nil if there were no windows.
    ///   - shift: nanoseconds.
    init(_ old: Stretches?, dating: Stretches, shift: Int64, width: Duration) {
        var pieces = Self.pieces(old, dating: dating, shift: shift)
        var stretches = Stretches(pieces.map { ($0.since, $0.offset) }) ?? dating
        if stretches.all.count > Self.stretchesMax {
            pieces = Self.pieces(old, dating: dating, shift: 0)
            stretches = dating
        }
        self.stretches = stretches
        let newGrid = WindowGrid(width: width, stretches: stretches)
        let oldGrid = old.map { WindowGrid(width: width, stretches: $0) }
        var numbers: [ClosedRange<Int64>] = []
        var spans: [MovedSpan] = []
        for (index, piece) in pieces.enumerated() where piece.isMoved {
            let end = index + 1 < pieces.count ? pieces[index + 1].since : .max
            let first = index == 0 ? 0 : Stretches.milliseconds(piece.since)
            let span = first..<max(first, Stretches.milliseconds(end))
            numbers += [newGrid, oldGrid].compactMap { $0?.numbers(within: span) }
            let former = old?.offset(at: piece.since)
            Self.append(MovedSpan(milliseconds: span, formerOffset: former), to: &spans)
        }
        moved = Self.merged(numbers)
        self.spans = spans
    }

    /// A piece of the board's time that has one offset before and after.
    private struct Piece {
        var since: Int64
        var offset: Int64
        var isMoved: Bool
    }

    private static func pieces(
        _ old: Stretches?, dating: Stretches, shift: Int64
    ) -> [Piece] {
        let borders = Set((old?.all ?? []).map(\.since) + dating.all.map(\.since)).sorted()
        return borders.map { since in
            let wanted = dating.offset(at: since)
            if let laid = old?.offset(at: since),
                laid.subtractingSaturating(wanted).magnitude <= shift.magnitude
            {
                return Piece(since: since, offset: laid, isMoved: false)
            }
            return Piece(since: since, offset: wanted, isMoved: true)
        }
    }

    private static func append(_ span: MovedSpan, to spans: inout [MovedSpan]) {
        guard !span.milliseconds.isEmpty else { return }
        if let last = spans.last, last.formerOffset == span.formerOffset,
            last.milliseconds.upperBound == span.milliseconds.lowerBound
        {
            spans[spans.count - 1].milliseconds =
                last.milliseconds.lowerBound..<span.milliseconds.upperBound
        } else {
            spans.append(span)
        }
    }

    private static func merged(_ ranges: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
        var merged: [ClosedRange<Int64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound.addingSaturating(1) {
                merged[merged.count - 1] =
                    last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}

extension WindowGrid {
    /// The numbers of windows in which this span of one stretch lies; nil for an empty one.
    fileprivate func numbers(within milliseconds: Range<Int64>) -> ClosedRange<Int64>? {
        let first = max(0, min(milliseconds.lowerBound, Self.millisecondsMax))
        let last = max(0, min(milliseconds.upperBound - 1, Self.millisecondsMax))
        guard !milliseconds.isEmpty, let low = number(at: first), let high = number(at: last),
            low <= high
        else { return nil }
        return low...high
    }
}
