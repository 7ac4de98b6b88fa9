import Glibc

/// Standard input, output and error, without which a program may be started (`>&-`).
public enum StandardDescriptors {
    /// Opens those that are closed. Otherwise the next files opened would get their numbers, and
    /// with them what is meant for a terminal: log lines in an identity file. They are opened the
    /// wrong way round, so that using them still fails.
    public static func fill() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) < 0 {
            // The kernel takes the lowest free number.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
