/// A GPIO line, as libgpiod finds it.
public struct GPIOLine: Equatable, Sendable {
    /// The kernel's label of the chip (`gpiodetect` shows it in brackets).
    var chipLabel: String
    /// The platform device of the chip, where it is known (`44e07000.gpio`): what
    /// /sys/bus/gpio/devices/gpiochipN is a link into. It is right where labels change with the
    /// order in which chips were found.
    var chipDevice: String?
    /// The offset in the chip, from 0.
    public var line: Int
}

extension Board {
    /// The line that a name stands for: a pin's name (`GPIO17`, `PC7`), its header and number
    /// (`J8_11`, `P9_12`), or its number alone where there is one header (`11`). Letters may be
    /// small or capital. Nil if there is no such pin, or it is no GPIO.
    public func line(named name: String) -> GPIOLine? {
        guard let pin = pin(named: name), let line = pin.line,
            let chip = chips.first(where: { $0.name == line.chip })
        else { return nil }
        return GPIOLine(chipLabel: chip.label, chipDevice: chip.device, line: line.offset)
    }

    /// The pin of any kind that a name stands for; power and ground only by number.
    public func pin(named name: String) -> Pin? {
        let wanted = name.lowercased()
        for header in headers {
            for pin in header.pins {
                let place = "\(header.name)_\(pin.number)".lowercased()
                if place == wanted { return pin }
                if headers.count == 1, String(pin.number) == wanted { return pin }
                if pin.line != nil, pin.name.lowercased() == wanted { return pin }
            }
        }
        return nil
    }

    /// Names of all GPIO pins, in the order of the headers: for messages about a wrong one.
    var lineNames: [String] {
        headers.flatMap { $0.pins.filter { $0.line != nil }.map(\.name) }
    }
}
