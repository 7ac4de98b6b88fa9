import Boards
import Configuration
import Glibc
import NearbyCore
import NearbyDTLS
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
        check.checkState()
        if !isStarting { check.checkIdentity() }
        check.checkControl()
        check.checkStore()
        check.checkSecret()
        check.checkLinks()
        if !isStarting { check.checkPort() }
        if let page, isTaken(page.bind, page.port) {
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

    // MARK: Folders and files

    private func checkState() {
        guard !settings.keepsNothing else { return }
        let path = settings.state
        guard !Self.isOfTheKernel(path) else {
            return fail("state: \(path) is the kernel's and keeps nothing; choose another folder")
        }
        guard let kind = PathKind(path) else {
            if let fault = Self.faultOfMaking(path) {
                fail(
                    "state: \(path) cannot be created: \(fault); correct that, create the folder "
                        + "for the user who runs this, or set another path")
            }
            return
        }
        guard kind == .folder else {
            return fail("state: \(path) is \(kind.text); it must be a folder")
        }
        if access(path, W_OK | X_OK) != 0 {
            fail(
                "state: \(path): \(Self.errorText); unless it can be written, the identity and the "
                    + "waiting readings are lost at each start: make it writable for the user "
                    + "who runs this, or set another path")
        }
    }

    /// A start tells of it by itself.
    private func checkIdentity() {
        guard PathKind(settings.state) == .folder, access(settings.state, X_OK) == 0,
            let fault = NodeIdentity.fault(
                stateDirectory: settings.state, rule: settings.trust.isByKey ? .refuse : .makeNew)
        else { return }
        fail("state: \(fault)")
    }

    private func checkControl() {
        guard !settings.keepsNothing else { return }
        let path = settings.control
        if let kind = PathKind(path) {
            if kind != .socket { fail("control: \(path) is \(kind.text); it must be a socket") }
            return
        }
        let folder = Self.folder(of: path)
        guard let kind = PathKind(folder) else {
            // The agent makes the folder itself, if only that is missing.
            if access(Self.folder(of: folder), W_OK | X_OK) == 0 { return }
            return warn(
                "control: there is no folder \(folder), and it cannot be made; the socket will be "
                    + Settings.fallbackControl(state: settings.state))
        }
        if kind != .folder {
            fail("control: \(folder) is \(kind.text); it must be a folder")
        } else if access(folder, W_OK | X_OK) != 0 {
            fail("control: \(folder): \(Self.errorText)")
        }
    }

    private func checkStore() {
        guard settings.role == .collector, let path = settings.store else { return }
        if let kind = PathKind(path) {
            if kind != .file { fail("store: \(path) is \(kind.text); it must be a file") }
            if kind == .file, access(path, R_OK | W_OK) != 0 {
                fail("store: \(path): \(Self.errorText)")
            }
            return
        }
        // What lies in the state directory is made with it.
        let folder = Self.folder(of: path)
        guard folder != settings.state || PathKind(folder) != nil else { return }
        if PathKind(folder) != .folder {
            fail("store: there is no folder \(folder); create it, or set another path")
        } else if access(folder, W_OK | X_OK) != 0 {
            fail(
                "store: \(folder): \(Self.errorText); make it writable for the user who runs this, "
                    + "or set another path")
        }
    }

    /// A secret in a file of its own that others may read is a mistake already.
    private func checkSecret() {
        var status = stat()
        guard settings.hasInlineSecret, stat(settings.file, &status) == 0,
            status.st_mode & 0o077 != 0
        else { return }
        let mode = String(UInt32(status.st_mode) & 0o777, radix: 8)
        warn(
            "others may read this file (0\(mode)) and the secret in it; run `chmod 600` on it, or "
                + "use secret-file")
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

    /// Whether something listens there. Binds as the page's server does.
    private static func isTaken(_ address: String, _ port: UInt16) -> Bool {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, "\(port)", &hints, &list) == 0, let found = list?.pointee else {
            return false
        }
        defer { freeaddrinfo(list) }
        let file = socket(found.ai_family, found.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, size)
        if found.ai_family == AF_INET6 {
            setsockopt(file, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
        }
        return bind(file, found.ai_addr, found.ai_addrlen) != 0 && errno == EADDRINUSE
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

    /// Whether the path, or what there is of it, leads into procfs or sysfs.
    private static func isOfTheKernel(_ path: String) -> Bool {
        guard let resolved = realpath(path, nil) else {
            let parent = folder(of: path)
            return parent != path && isOfTheKernel(parent)
        }
        defer { free(resolved) }
        let text = String(cString: resolved) + "/"
        return text.hasPrefix("/proc/") || text.hasPrefix("/sys/")
    }

    static func folder(of path: String) -> String { path.pathFolder ?? "." }

    /// Why no folder could be made there; nil if one could.
    private static func faultOfMaking(_ path: String) -> String? {
        let parent = folder(of: path)
        guard let kind = PathKind(parent) else {
            return parent == path ? "no such path" : faultOfMaking(parent)
        }
        if kind != .folder { return "\(parent) is \(kind.text)" }
        return access(parent, W_OK | X_OK) == 0 ? nil : "\(parent): \(errorText)"
    }

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

/// What a path leads to.
enum PathKind {
    case file, folder, device, socket, pipe, other

    /// Nil if there is nothing, or it cannot be reached.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFCHR, S_IFBLK: .device
            case S_IFSOCK: .socket
            case S_IFIFO: .pipe
            default: .other
            }
    }

    var text: String {
        switch self {
        case .file: "a file"
        case .folder: "a folder"
        case .device: "a device"
        case .socket: "a socket"
        case .pipe: "a pipe"
        case .other: "neither file nor folder"
        }
    }
}
