import Glibc
import Telemetry

/// The machine that this runs on.
package enum ThisMachine {
    /// As the device tree or the firmware names it; empty where neither does.
    static var model: String {
        for path in ["/proc/device-tree/model", "/sys/class/dmi/id/product_name"] {
            let text = firstLine(path)
            if !text.isEmpty { return String(text.prefix(100)) }
        }
        return ""
    }

    /// The kernel's id of this boot.
    package static var bootID: BootID {
        BootID(text: firstLine("/proc/sys/kernel/random/boot_id"))
            ?? BootID(high: systemRandom(), low: systemRandom())
    }

    private static func firstLine(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(file, &buffer, buffer.count)
        let line = buffer.prefix(max(0, count)).prefix { $0 != 10 && $0 != 0 }
        return String(decoding: line, as: UTF8.self)
    }
}

/// A 64-bit number from the kernel's generator.
public func systemRandom() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
}
