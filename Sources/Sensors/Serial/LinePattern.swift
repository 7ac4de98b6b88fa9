import Glibc

/// A POSIX extended regular expression (regcomp(3), regex(7)) whose groups are channels, in the
/// order of their opening brackets.
public final class LinePattern: @unchecked Sendable {
    // Compiled once, and only read afterwards.
    private var compiled = regex_t()
    public let groupCount: Int

    /// Nil if it is no such expression.
    public init?(_ text: String) {
        // What failed to compile needs no regfree.
        guard regcomp(&compiled, text, REG_EXTENDED) == 0 else { return nil }
        groupCount = Int(compiled.re_nsub)
    }

    deinit { regfree(&compiled) }

    /// What each group matched, nil for one that took no part; nil if the line does not match. The
    /// line is bytes of any encoding; one with a zero byte matches nothing.
    func groups(in line: [UInt8]) -> [ArraySlice<UInt8>?]? {
        guard !line.contains(0) else { return nil }
        let text = line.map { CChar(bitPattern: $0) } + [0]
        var matches = [regmatch_t](repeating: regmatch_t(), count: groupCount + 1)
        guard regexec(&compiled, text, matches.count, &matches, 0) == 0 else { return nil }
        return matches.dropFirst().map { match in
            let (start, end) = (Int(match.rm_so), Int(match.rm_eo))
            return start >= 0 && start <= end && end <= line.count ? line[start..<end] : nil
        }
    }
}
