import Configuration

/// What a node's service must be allowed beyond the plain unit, as its configuration says: the
/// devices that sensors open, files that they read or write, Bluetooth.
struct ServiceNeeds: Equatable {
    /// Groups of devices with what is done to them, as `DeviceAllow=` takes them: `char-89 rw`.
    private(set) var devices: [String] = []
    /// Modules without which the kernel does not know a group.
    private(set) var modules: [String] = []
    private(set) var usesBluetooth = false
    /// Files below /sys that are written: by lights and buffers.
    private(set) var writesKernelFiles = false
    /// Shell commands, run as root before the service starts.
    private(set) var preparations: [String] = []
    /// Below /home, /root or /run/user.
    private(set) var readsHomes = false
    /// Below /tmp or /var/tmp.
    private(set) var usesTemporary = false
    /// Folders that are written, the usual ones left out.
    private(set) var writtenFolders: [String] = []
    /// Whether programs of others run in the service.
    private(set) var runsPrograms = false

    init(_ settings: Settings, on machine: MachineFacts) {
        let isHeard = settings.bluetooth.isAsked || machine.hasBluetooth
        usesBluetooth = settings.bluetooth.isOn && isHeard
        for sensor in settings.sensors { add(sensor.driver, machine) }
        switch settings.statusLED?.place {
        case .led(let name)?: addLight(name)
        case .pin?: add(device: "char-gpiochip rw")
        case nil: break
        }
        addFolders(settings)
    }

    // MARK: Sensors

    private mutating func add(_ driver: SensorSettings.Driver, _ machine: MachineFacts) {
        switch driver {
        case .gpio: add(device: "char-gpiochip rw")
        case .i2c: add(device: "char-89 rw", of: "i2c_dev")
        case .serial(let serial):
            for device in Self.devices(of: serial.device, machine) { add(device: device) }
        case .iio(let iio) where iio.isBuffered: addBuffers()
        case .ble: usesBluetooth = true
        case .command(let command):
            runsPrograms = true
            for path in command.run { read(path) }
        case .replay(let replay): read(replay.file)
        case .system(let system): for disk in system.disks { read(disk) }
        case .iio, .hwmon, .thermal, .w1, .power: break
        }
    }

    /// What a serial port is allowed by: its group where that is known, since a port that is
    /// plugged in again may have another number; else the port itself.
    static func devices(of path: String, _ machine: MachineFacts) -> [String] {
        if let major = machine.majors[path] { return ["char-\(major) rw"] }
        let known = SerialSettings.majors.first { path.hasPrefix($0.prefix) }
        return known.map { $0.majors.map { "char-\($0) rw" } } ?? ["\(path) rw"]
    }

    /// Only root writes to lights, unless their group is changed.
    private mutating func addLight(_ name: String) {
        writesKernelFiles = true
        guard Self.isPlain(name) else { return }
        let files = ["brightness", "trigger"].map { "/sys/class/leds/\(name)/\($0)" }
        preparations.append(Self.share(files.joined(separator: " ")))
    }

    private mutating func addBuffers() {
        add(device: "char-iio r", of: "industrialio")
        writesKernelFiles = true
        let command = Self.share("/dev/iio:device* /sys/bus/iio/devices/*/", "-R ")
        if !preparations.contains(command) { preparations.append(command) }
    }

    private static func share(_ files: String, _ option: String = "") -> String {
        "chgrp \(option)\(SystemdUnit.user) \(files) && chmod \(option)g+rwX \(files)"
    }

    /// Nothing that a shell, or systemd, would read as something else.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                || (0x61...0x7a).contains(byte) || "_-.:".utf8.contains(byte)
        }
    }

    private mutating func add(device: String, of module: String? = nil) {
        if !devices.contains(device) { devices.append(device) }
        if let module, !modules.contains(module) { modules.append(module) }
    }

    // MARK: Files

    private mutating func addFolders(_ settings: Settings) {
        let control = Places.folder(of: settings.control)
        write(settings.state, unless: "/var/lib/rivulet")
        write(control, unless: "/run/rivulet")
        if settings.role == .collector, let store = settings.store {
            write(Places.folder(of: store), unless: "/var/lib/rivulet")
        }
        if let file = settings.secretFile { read(file) }
        if settings.trust.kind == .authority {
            let trust = settings.trust
            for file in [trust.authority, trust.certificate] + [trust.key].compactMap({ $0 }) {
                read(file)
            }
        }
    }

    private mutating func write(_ folder: String, unless usual: String) {
        guard folder.utf8.first == UInt8(ascii: "/"), folder != usual,
            !folder.utf8.starts(with: (usual + "/").utf8)
        else { return }
        read(folder)
        if !writtenFolders.contains(folder) { writtenFolders.append(folder) }
    }

    private mutating func read(_ path: String) {
        let isBelow = { (folders: [String]) in
            folders.contains { path == $0 || path.utf8.starts(with: ($0 + "/").utf8) }
        }
        if isBelow(["/home", "/root", "/run/user"]) { readsHomes = true }
        if isBelow(["/tmp", "/var/tmp"]) { usesTemporary = true }
    }
}
