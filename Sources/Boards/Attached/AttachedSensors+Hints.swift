/// What is found, but somebody has to say what it is.
extension AttachedSensors {
    var gpio: [Finding] {
        let chips = tree.gpioChips
        guard !chips.isEmpty else { return [] }
        return [
            Finding(
                what: "GPIO chips: " + chips.map(\.text).joined(separator: "; ")
                    + ". What is wired to a pin cannot be seen:",
                entry: ("gpio", ", pin: GPIO17, name: door, edges: both, bias: pull-up"),
                isReady: false)
        ]
    }

    var i2c: [Finding] {
        let folder = "/sys/bus/i2c/devices"
        let devices = tree.names(in: folder)
        let buses = devices.filter { $0.hasPrefix("i2c-") }
        guard !buses.isEmpty else { return [] }
        let names = buses.map { bus in
            tree.line("\(folder)/\(bus)/name").map { "\(bus) (\($0))" } ?? bus
        }
        let without = devices.filter { device in
            !device.hasPrefix("i2c-") && tree.target("\(folder)/\(device)/driver") == nil
        }.map { device in
            Finding(
                what:
                    "I²C device \(device) (\(tree.line("\(folder)/\(device)/name") ?? "unnamed")) "
                    + "has no kernel driver: is its module there?")
        }
        return without + [
            Finding(
                what: "I²C buses: " + names.joined(separator: ", ")
                    + ". Addresses are not tried out: reading from a chip that one does not know "
                    + "can change it. `rivulet board` has the overlays that bring kernel drivers; "
                    + "`i2cdetect -y 1` tries, if you know what is on the bus.")
        ]
    }

    var serial: [Finding] {
        let folder = "/dev/serial/by-id"
        return tree.names(in: folder).map { name in
            Finding(
                what: "serial port \(name):",
                entry: (
                    "serial",
                    ", device: \"\(folder)/\(name.filter { $0 != "\"" && $0 != "\\" })\""
                        + ", protocol: line"
                ), isReady: false)
        }
    }

    var bluetooth: [Finding] {
        let controllers = tree.names(in: "/sys/class/bluetooth").filter {
            $0.hasPrefix("hci") && !$0.contains(":")
        }
        guard !controllers.isEmpty else { return [] }
        return [
            Finding(
                what: "Bluetooth: " + controllers.joined(separator: ", ")
                    + ". Thermometers that advertise are heard by:",
                entry: ("ble", ", every: 30s"), isReady: false)
        ]
    }
}
