import Configuration
import Glibc

extension SerialSettings {
    /// Major numbers by what the port is called, where there is no device to ask (Linux's
    /// Documentation/admin-guide/devices.txt). systemd knows names of drivers, too, but only while
    /// they are loaded.
    static let majors: [(prefix: String, majors: [Int])] = [
        ("/dev/ttyUSB", [188]), ("/dev/ttyACM", [166]), ("/dev/ttyAMA", [204]),
        ("/dev/ttyS", [4]), ("/dev/rfcomm", [216]), ("/dev/serial/by-", [188, 166]),
        ("/dev/serial", [204, 4]),
    ]
}

/// What has to be known of a machine to say what its service must be allowed.
struct MachineFacts: Equatable {
    var hasBluetooth = false
    /// Major numbers of the serial ports that are there, by path.
    var majors: [String: Int] = [:]

    init(hasBluetooth: Bool = false, majors: [String: Int] = [:]) {
        self.hasBluetooth = hasBluetooth
        self.majors = majors
    }

    /// Looks below `root`; tests give one.
    init(_ settings: Settings, root: String = "") {
        hasBluetooth =
            Self.hasEntry("hci", in: root + "/sys/class/bluetooth")
            || Self.hasNode("bluetooth", below: root + "/proc/device-tree")
        for sensor in settings.sensors {
            guard case .serial(let serial) = sensor.driver else { continue }
            var status = stat()
            guard stat(root + serial.device, &status) == 0, status.st_mode & S_IFMT == S_IFCHR
            else { continue }
            // gnu_dev_major(3)
            let number = UInt64(status.st_rdev)
            let (low, high) = (number >> 8 & 0xfff, number >> 32 & ~0xfff)
            majors[serial.device] = Int(low | high)
        }
    }

    private static func hasEntry(_ prefix: String, in folder: String) -> Bool {
        folders(in: folder).contains { $0.hasPrefix(prefix) }
    }

    /// A controller on a serial line comes up after the services; the device tree knows of it
    /// before.
    private static func hasNode(_ name: String, below top: String) -> Bool {
        var level = [top]
        for _ in 0..<4 {
            var next: [String] = []
            for folder in level {
                for entry in folders(in: folder) {
                    if entry == name || entry.hasPrefix(name + "@") { return true }
                    if next.count < 2_048 { next.append("\(folder)/\(entry)") }
                }
            }
            level = next
        }
        return false
    }

    /// Folders and links in a folder; at most 1,024.
    private static func folders(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < 1_024, let entry = readdir(stream) {
            guard [DT_DIR, DT_LNK].contains(Int(entry.pointee.d_type)) else { continue }
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
