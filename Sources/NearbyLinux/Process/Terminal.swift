import Glibc

/// The terminal that standard output may be.
public enum Terminal {
    public static var isThere: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether it understands ANSI sequences: `TERM=dumb` says that it does not.
    public static var takesSequences: Bool {
        isThere && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// Columns and lines, as the kernel knows them; zero where it does not, as for a pipe.
    public static var size: (columns: Int, lines: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return (0, 0) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether colours are wanted there: not with `NO_COLOR` (no-color.org).
    public static var takesColours: Bool {
        takesSequences && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    }
}
