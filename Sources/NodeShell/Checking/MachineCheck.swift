import Boards
import Configuration
import Glibc
import NearbyCore
import NearbyLinux

/// What of a configuration does not go together with the machine that this runs on.
///
/// Nothing is changed and no line or port is asked for. What may come later, as a plugged
/// interface does, is a warning; what cannot work is an error.
package final class MachineCheck {
    package struct Finding: CustomStringConvertible {
        package var isError: Bool
        package var file: String
        /// Nil: not one place of the file.
        package var mark: Mark?
        package var text: String

        package var description: String {
            let place = mark.map { ":\($0.line):\($0.column)" } ?? ""
            return "\(file)\(place): \(isError ? "" : "warning: ")\(text)"
        }
    }

    let settings: Settings
    let pins: BoardPins
    /// Where /dev, /sys and /proc are; tests give another.
    let root: String
    var findings: [Finding] = []

    private init(_ settings: Settings, _ pins: BoardPins, _ root: String) {
        self.settings = settings
        self.pins = pins
        self.root = root
    }

    /// - Parameters:
    ///   - isStarting: a node starts with these settings: it tells of its port by itself.
    ///   - page: where the collector's page is to be served.
    package static func findings(
        _ settings: Settings, isStarting: Bool, page: (bind: String, port: UInt16)? = nil,
        pins: BoardPins = BoardPins(), root: String = ""
    ) -> [Finding] {
        let check = MachineCheck(settings, pins, root)
        check.findings = PlaceCheck.findings(settings, isStarting: isStarting)
        check.checkLinks()
        if !isStarting { check.checkPort() }
        if let page, ListeningPort.isTaken(page.bind, page.port) {
            check.failInUse("web.port", page.port, "ss -tlpn")
        }
        check.checkLight()
        for sensor in settings.sensors { check.check(sensor) }
        return check.findings
    }

    /// What reading the sensors once shows, those left out with which something is wrong anyway.
    /// Runs programs.
    package static func trial(_ settings: Settings, without wrong: [Finding]) -> [Finding] {
        let check = MachineCheck(settings, BoardPins(), "")
        for sensor in settings.sensors
        where !wrong.contains(where: { $0.isError && $0.mark == sensor.mark }) {
            check.read(sensor)
        }
        return check.findings
    }

    func fail(_ text: String, _ mark: Mark? = nil) {
        findings.append(Finding(isError: true, file: settings.file, mark: mark, text: text))
    }

    func warn(_ text: String, _ mark: Mark? = nil) {
        findings.append(Finding(isError: false, file: settings.file, mark: mark, text: text))
    }

    // MARK: Links

    private func checkLinks() {
        for name in settings.udp.interfaces where if_nametoindex(name) == 0 {
            warn("links.udp.interfaces: there is no \(name) here; \(Self.interfaces)")
        }
        for peer in settings.udp.peers {
            guard let sign = peer.text.firstIndex(of: "%") else { continue }
            let name = String(peer.text[peer.text.index(after: sign)...].prefix { $0 != "]" })
            if if_nametoindex(name) == 0 {
                warn("peers: there is no \(name) here; \(Self.interfaces)", peer.mark)
            }
        }
        let needsRadio =
            settings.bluetooth.isOn && settings.bluetooth.isAsked
            || settings.sensors.contains { if case .ble = $0.driver { true } else { false } }
        if needsRadio, Self.entries(of: root + "/sys/class/bluetooth").isEmpty {
            warn("there is no Bluetooth controller here; `rfkill list` shows those switched off")
        }
    }

    private func checkPort() {
        let port = settings.udp.port
        guard settings.udp.isOn, port != 0 else { return }
        do {
            _ = try UDPTransport(port: port)
        } catch TransportError.portInUse {
            failInUse("links.udp.port", port, "ss -ulpn")
        } catch {
            fail("links.udp.port: \(error)")
        }
    }

    private func failInUse(_ key: String, _ port: UInt16, _ command: String) {
        // Where a node runs, it is most likely the one that this file is for.
        if (try? ControlClient(path: settings.control)) != nil {
            warn("\(key): \(port) is in use, it seems by the node that runs here")
        } else {
            fail("\(key): \(port) is in use; `\(command)` shows by whom")
        }
    }

    private func checkLight() {
        switch settings.statusLED?.place {
        case .led(let name)? where PathKind(root + "/sys/class/leds/\(name)") == nil:
            let names = Self.entries(of: root + "/sys/class/leds")
            warn(
                "status-led: there is no light \(name) here; "
                    + (names.isEmpty ? "this machine has none" : "there are \(Self.list(names))"))
        case .pin(let pin, let chip)?: checkPin(.pin(pin, chip: chip), "status-led", nil)
        case .led, nil: break
        }
    }

    // MARK: Parts

    static var errorText: String { String(cString: strerror(errno)) }

    private static var interfaces: String {
        "there are " + list(entries(of: "/sys/class/net"))
    }

    static func list(_ names: [String]) -> String {
        names.prefix(16).joined(separator: ", ") + (names.count > 16 ? ", …" : "")
    }

    /// The names in a folder, in their order.
    static func entries(of folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream), names.count < 1_024 {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
