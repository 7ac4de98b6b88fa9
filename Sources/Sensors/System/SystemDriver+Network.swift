import Sampling
import Telemetry

/// Network interfaces: what they carry, and how well a radio hears.
extension SystemDriver {
    /// Bytes received and sent since boot, for each interface but loopback.
    func network() -> [Measurement] {
        let lines: [Substring]
        switch self.lines("/proc/net/dev") {
        case .failure(let fault):
            return [
                Measurement("net.received", "B", .null(fault.reason)),
                Measurement("net.sent", "B", .null(fault.reason)),
            ]
        case .success(let all): lines = all
        }
        return lines.dropFirst(2).flatMap { line -> [Measurement] in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return [] }
            let name = parts[0].filter { $0 != " " }
            let fields = parts[1].split(separator: " ")
            guard name != "lo", fields.count >= 9 else { return [] }
            return [
                Measurement(channel(name, "received"), "B", number: fields[0]),
                Measurement(channel(name, "sent"), "B", number: fields[8]),
            ]
        }
    }

    /// dBm of each Wi-Fi interface that is an access point's station; null while it is none, and in
    /// a mesh or ad-hoc network, of which this file says nothing.
    ///
    /// From the wireless extensions' file, which every kernel of Debian and of Raspberry Pi OS has
    /// for its radios; it needs no privileges and no library. A radio that gives no dBm has no
    /// channel.
    ///
    ///     face | status | link level noise | …
    ///     wlan0: 0000   60.  -50.  -256  …      a dot: updated since the last look
    func wireless() -> [Measurement] {
        guard case .success(let lines) = lines("/proc/net/wireless") else { return [] }
        return lines.dropFirst(2).prefix(16).compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let channel = channel(parts[0].filter { $0 != " " }, "signal")
            let fields = parts[1].split(separator: " ")
            guard fields.count >= 4 else { return Measurement(channel, "dBm", .null(.malformed)) }
            let level = fields[2]
            guard let strength = Int64(level.hasSuffix(".") ? level.dropLast() : level) else {
                return Measurement(channel, "dBm", .null(.malformed))
            }
            // Without a network the kernel writes zeros.
            if strength == 0 { return Measurement(channel, "dBm", .null(.absent)) }
            return strength < 0 ? Measurement(channel, "dBm", strength) : nil
        }
    }

    /// Linux takes almost any byte into an interface's name.
    private func channel(_ interface: some StringProtocol, _ quantity: String) -> String {
        DeviceRoster.joined("net.\(interface)", quantity)
    }
}
