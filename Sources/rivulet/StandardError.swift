import Glibc

/// A line for people, on standard error.
func complain(_ line: String) {
    var bytes = Array((line + "\n").utf8)
    _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
}
