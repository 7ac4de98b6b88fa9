import NearbyCore

/// Text from outside, made fit for a terminal: no control or formatting characters, and a known
/// width.
package struct PrintableText {
    package let text: String
    /// Columns on a terminal.
    package let width: Int

    package init(_ outside: String) {
        var scalars = String.UnicodeScalarView()
        var width = 0
        for scalar in outside.unicodeScalars where Self.isPrintable(scalar) {
            scalars.append(scalar)
            width += Self.width(of: scalar)
        }
        text = String(scalars)
        self.width = width
    }

    /// Exactly `columns` wide: filled with spaces, or cut with `…` at the end.
    package func fitted(to columns: Int, alignRight: Bool = false) -> String {
        guard width > columns else {
            let space = String(repeating: " ", count: columns - width)
            return alignRight ? space + text : text + space
        }
        var scalars = String.UnicodeScalarView()
        var used = 0
        for scalar in text.unicodeScalars {
            let next = Self.width(of: scalar)
            if used + next > columns - 1 { break }
            scalars.append(scalar)
            used += next
        }
        let rest = columns - used
        return rest > 0 ? String(scalars) + "…" + String(repeating: " ", count: rest - 1) : ""
    }

    /// At most `columns` wide: `head` columns of the begin, `…`, and as much of the end as fits.
    package func shortened(to columns: Int, head: Int) -> String {
        guard width > columns else { return text }
        var begin = String.UnicodeScalarView()
        var used = 0
        for scalar in text.unicodeScalars {
            let next = Self.width(of: scalar)
            if used + next > min(head, columns - 1) { break }
            begin.append(scalar)
            used += next
        }
        var end: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars.reversed() {
            let next = Self.width(of: scalar)
            if used + next > columns - 1 { break }
            end.append(scalar)
            used += next
        }
        // A mark without its letter would sit on the dots.
        while let last = end.last, Self.width(of: last) == 0 { end.removeLast() }
        begin.append("…")
        begin.append(contentsOf: end.reversed())
        return String(begin)
    }

    /// Controls, formatting (bidirectional overrides among them), separators and the unassigned are
    /// not.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
            .unassigned:
            false
        default: true
        }
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default:
            return TextWidth.isWide(scalar) || scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }
}
