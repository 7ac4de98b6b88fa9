/// A GPIO chip of this machine, as the kernel shows it.
struct FoundChip: Equatable {
    /// What it is called in /dev: gpiochip0.
    var name: String
    /// The device that it belongs to: fe200000.gpio.
    var device: String
    /// Nil where the kernel has no /sys/class/gpio.
    var label: String?
    var lineCount: Int?

    var text: String {
        let label = label.map { " [\($0)]" } ?? ""
        let lines = lineCount.map { ", \($0) lines" } ?? ""
        return "\(name)\(label)\(lines), \(device)"
    }
}

extension SystemTree {
    /// In the order of their numbers.
    var gpioChips: [FoundChip] {
        let folder = "/sys/bus/gpio/devices"
        return names(in: folder).filter { $0.hasPrefix("gpiochip") }.map { name in
            let parts = (target("\(folder)/\(name)") ?? "").split(separator: "/")
            let device = parts.dropLast().last.map(String.init) ?? "of no known device"
            let chip = sysfsChip(of: device)
            return FoundChip(
                name: name, device: device, label: chip.flatMap { line($0 + "/label") },
                lineCount: chip.flatMap { line($0 + "/ngpio") }.flatMap { Int($0) })
        }
    }

    /// The older interface knows labels: /sys/class/gpio/gpiochipBASE is a link to
    /// …/DEVICE/gpio/gpiochipBASE. Nil where a device has several chips: they could be mistaken.
    private func sysfsChip(of device: String) -> String? {
        let folder = "/sys/class/gpio"
        let chips = names(in: folder).filter { name in
            name.hasPrefix("gpiochip")
                && (target("\(folder)/\(name)") ?? "").split(separator: "/").suffix(3).first.map {
                    String($0) == device
                } == true
        }
        return chips.count == 1 ? "\(folder)/\(chips[0])" : nil
    }
}
