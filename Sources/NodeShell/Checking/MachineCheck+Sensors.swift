import Configuration
import Glibc
import Sensors

/// What the sensors need of this machine.
extension MachineCheck {
    func check(_ sensor: SensorSettings) {
        switch sensor.driver {
        case .command(let command): checkProgram(command, sensor.mark)
        case .replay(let replay): checkRecording(replay, sensor)
        case .serial(let serial):
            checkDevice(
                serial.device, "is it plugged in?", "put the user into the group dialout",
                sensor.mark)
        case .i2c(let i2c):
            checkDevice(
                "/dev/i2c-\(i2c.bus)", "is the bus switched on? `rivulet board` says how",
                "put the user into the group i2c", sensor.mark)
        case .gpio(let gpio): checkPin(LineName(gpio), "gpio", sensor.mark)
        case .system(let system):
            for disk in system.disks where PathKind(disk) != .folder {
                fail("disks: there is no folder \(disk)", sensor.mark)
            }
        case .ble, .iio, .hwmon, .thermal, .w1, .power: break
        }
    }

    func checkPin(_ line: LineName, _ what: String, _ mark: Mark?) {
        if let fault = GPIOLines.fault(of: line, header: { [pins] in pins.place(of: $0) }) {
            warn("\(what): \(fault)", mark)
        }
    }

    /// That the program is there and can be started.
    private func checkProgram(_ command: CommandSettings, _ mark: Mark) {
        guard let program = command.run.first else { return }
        if let fault = Self.faultOfProgram(program) { return fail("run: \(fault)", mark) }
        guard let interpreter = Self.interpreter(of: program) else { return }
        if let fault = Self.faultOfProgram(interpreter) {
            fail("run: \(program) begins with #!\(interpreter): \(fault)", mark)
        }
    }

    private static func faultOfProgram(_ path: String) -> String? {
        guard let kind = PathKind(path) else { return "\(path): \(errorText)" }
        guard kind == .file else { return "\(path) is \(kind.text), not a program" }
        guard access(path, X_OK) == 0 else {
            return "\(path) cannot be started (\(errorText)); `chmod +x` it?"
        }
        return nil
    }

    /// What stands behind `#!` in a script's first line (execve(2)).
    private static func interpreter(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(file, &buffer, buffer.count)
        guard count > 2, buffer.starts(with: "#!".utf8) else { return nil }
        let line = buffer[2..<count].prefix { $0 != 0x0a }
        return line.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }).first.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func checkRecording(_ replay: ReplaySettings, _ sensor: SensorSettings) {
        switch ReplayDriver.columns(of: replay.file) {
        case .failure(let fault): fail("file: \(replay.file): \(fault)", sensor.mark)
        case .success(let columns):
            for (name, unit) in columns {
                if let warning = UnitWords.warning(on: unit, "the unit of column \(name)") {
                    warn(warning, sensor.mark)
                }
            }
            compare(sensor, columns.map(\.name))
        }
    }

    private func checkDevice(
        _ path: String, _ whereIsIt: String, _ permission: String, _ mark: Mark
    ) {
        guard let kind = PathKind(root + path) else {
            return warn("there is no \(path) here; \(whereIsIt)", mark)
        }
        guard kind == .device else {
            return fail("\(path) is \(kind.text); it must be a device", mark)
        }
        if access(root + path, R_OK | W_OK) != 0 {
            let advice =
                errno == EPERM
                ? "the service's unit does not allow it; run `rivulet init --devices`" : permission
            fail("\(path): \(Self.errorText); \(advice)", mark)
        }
    }

    // MARK: Reading once

    /// Reads what can be read without disturbing anybody, and compares the names of its channels
    /// with those below `channels`.
    func read(_ sensor: SensorSettings) {
        switch sensor.driver {
        case .command, .system, .hwmon, .thermal, .w1, .power: break
        case .iio(let iio) where !iio.isBuffered: break
        default: return
        }
        let driver = sensor.makeDriver(state: nil, pins: pins)
        let measurements = driver.sample()
        guard measurements.contains(where: { $0.outcome.value != nil }) else {
            let reason = measurements.lazy.compactMap { measurement in
                if case .null(let reason) = measurement.outcome { reason } else { nil }
            }.first
            let text = driver.fault ?? reason.map { "\($0)" } ?? "nothing to read"
            return warn("\(driver.name) gives no value: \(text)", sensor.mark)
        }
        compare(sensor, measurements.map(\.channel))
    }

    private func compare(_ sensor: SensorSettings, _ names: [String]) {
        for name in sensor.sampling.channels.keys.sorted() where !names.contains(name) {
            warn(
                "channels: no channel of this sensor is called \(name); there are "
                    + Self.list(names), sensor.mark)
        }
    }
}
