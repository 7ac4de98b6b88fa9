import Glibc

/// A line that somebody types.
enum Prompt {
    /// Nil at the end of the input.
    static func line(_ prompt: String) -> String? {
        var bytes = Array(prompt.utf8)
        _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
        return readLine()
    }
}
