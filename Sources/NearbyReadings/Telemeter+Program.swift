import Glibc
import Nearby
import NearbyCore
import Telemetry

extension Telemeter.Settings {
    /// Of this run of a program.
    static func ofProgram(
        named name: String, labels: [String: String], wait: Duration
    ) throws(NearbyError) -> Self {
        var random = SystemRandomNumberGenerator()
        // A peer's name may have what no node's has; it is for people, and identifies nothing.
        let plain = name.unicodeScalars.map { $0.isPlain ? $0 : " " }
        let node: NodeDescription
        do throws(WireError) {
            node = try NodeDescription(
                name: String(String.UnicodeScalarView(plain)),
                labels: labels.map { Label(key: $0.key, value: $0.value) })
        } catch {
            throw NearbyError(
                .invalidParameter,
                "labels: \(error); there are at most 16, keys of 1 to 63 bytes, values of at most "
                    + "255, neither with control characters")
        }
        var settings = Self(
            run: RunID(value: random.next()),
            boot: currentBoot() ?? BootID(high: random.next(), low: random.next()), node: node)
        settings.wait = wait
        return settings
    }

    /// The kernel's id of this boot: runs of one boot share a clock.
    private static func currentBoot() -> BootID? {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(file, &buffer, buffer.count)
        return BootID(text: String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
    }
}

extension Outcome {
    /// As many decimals as the number is printed with.
    init(_ value: Double?) {
        guard let value else {
            self = .null(.unspecified)
            return
        }
        // Swift prints a whole number with ".0", which no sensor said.
        let text = Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        if let decimal = try? DecimalValue(parsing: text) {
            self = .value(decimal)
        } else {
            self = .null(value.isFinite ? .outOfRange : .malformed)
        }
    }
}
