import Glibc
import Telemetry

/// An open serial line: raw bytes, eight bits, no parity, one stop bit, no flow control; ours
/// alone. What the line was set to before is restored when it is closed.
///
/// Source: termios(3), ioctl_tty(2), flock(2).
final class SerialPort: Sendable {
    let descriptor: Int32
    /// What is wrong with a line that can be used all the same.
    let warning: String?
    private let earlier: termios

    struct Fault: Error, Equatable {
        let reason: NullReason
        /// What happened, and what to do about it.
        let message: String
    }

    init(_ path: String, baud: Int) throws(Fault) {
        let file = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw Self.fault(errno, path) }
        var settings = termios()
        guard let speed = Self.speeds[baud], tcgetattr(file, &settings) == 0 else {
            close(file)
            throw Fault(reason: .failed, message: "\(path) is not a serial port")
        }
        earlier = settings
        Self.makeRaw(&settings, speed)
        // The lock is for programs that ask; the exclusive mode for those that do not.
        guard flock(file, LOCK_EX | LOCK_NB) == 0, tcsetattr(file, TCSANOW, &settings) == 0 else {
            let fault = Self.fault(errno, path)
            close(file)
            throw fault
        }
        _ = ioctl(file, UInt(TIOCEXCL))
        // What has waited here since before we came is of no known time.
        tcflush(file, TCIFLUSH)
        descriptor = file
        warning = SerialConsole.warning(path)
    }

    deinit {
        // A close waits for what has not been sent.
        tcflush(descriptor, TCIOFLUSH)
        var settings = earlier
        tcsetattr(descriptor, TCSANOW, &settings)
        // The other end of a pseudoterminal keeps the mode.
        _ = ioctl(descriptor, UInt(TIOCNXCL))
        close(descriptor)
    }

    enum Arrival: Equatable {
        case bytes([UInt8])
        case nothing
        /// The device is gone; nothing will ever come again.
        case gone
    }

    /// What has come, at most so many bytes; never blocks.
    func read(_ most: Int) -> Arrival {
        var buffer = [UInt8](repeating: 0, count: most)
        let count = Glibc.read(descriptor, &buffer, most)
        if count > 0 { return .bytes(Array(buffer.prefix(count))) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .gone
    }

    /// Writes what the line takes at once; a short write is an unanswered request, no more.
    func write(_ bytes: [UInt8]) { _ = Glibc.write(descriptor, bytes, bytes.count) }

    private static func makeRaw(_ settings: inout termios, _ speed: speed_t) {
        cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        // Hanging up resets many a microcontroller when the port is opened next.
        settings.c_cflag &= ~(tcflag_t(CRTSCTS) | tcflag_t(CSTOPB) | tcflag_t(HUPCL))
        settings.c_iflag &= ~tcflag_t(IXOFF | IXANY)
        cfsetispeed(&settings, speed)
        cfsetospeed(&settings, speed)
    }

    private static func fault(_ code: Int32, _ path: String) -> Fault {
        switch code {
        case ENOENT, ENXIO, ENODEV, ENOTDIR:
            Fault(reason: .absent, message: "\(path) is not there; \(SerialConsole.present())")
        case EACCES, EPERM:
            Fault(
                reason: .denied,
                message: SerialConsole.warning(path)
                    ?? SensorFile.denial(path, code, group: "dialout"))
        case EBUSY, EWOULDBLOCK:
            Fault(
                reason: .denied,
                message: "\(path) is in use by another program; `fuser -v \(path)` names it")
        default:
            Fault(reason: .failed, message: "\(path): \(String(cString: strerror(code)))")
        }
    }

    private static let speeds: [Int: speed_t] = [
        1_200: speed_t(B1200), 2_400: speed_t(B2400), 4_800: speed_t(B4800),
        9_600: speed_t(B9600), 19_200: speed_t(B19200), 38_400: speed_t(B38400),
        57_600: speed_t(B57600), 115_200: speed_t(B115200), 230_400: speed_t(B230400),
        460_800: speed_t(B460800), 921_600: speed_t(B921600),
    ]
}

/// What the system says about its serial ports.
enum SerialConsole {
    /// That the kernel's console is on this port, if it is: a login prompt then reads along.
    /// `consoles` has a line a console, its name first (/proc/consoles).
    static func warning(_ path: String, consoles: String = "/proc/consoles") -> String? {
        guard let text = try? SensorFile.read(consoles, limit: 4_096).get(),
            let real = realpath(path, nil)
        else { return nil }
        defer { free(real) }
        let name = String(cString: real).split(separator: "/").last
        let names = text.split(separator: "\n").map { $0.prefix { $0 != " " } }
        guard let name, names.contains(name) else { return nil }
        return "\(path) has the system's console on it; switch that off: raspi-config, Interface "
            + "Options, Serial Port, no login shell (elsewhere: console= in the kernel's command "
            + "line)"
    }

    /// Which ports with a lasting name there are.
    static func present(_ folder: String = "/dev/serial/by-id") -> String {
        guard let entries = opendir(folder) else { return "no USB serial port is plugged in" }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries), names.count < 16 {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append("\(folder)/\(name)") }
        }
        return names.isEmpty
            ? "no USB serial port is plugged in"
            : "there is " + names.sorted().joined(separator: ", ")
    }
}
