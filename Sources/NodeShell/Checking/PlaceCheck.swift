import Configuration
import Glibc
import NearbyDTLS

/// What of a configuration's folders and files does not go together with the machine: the state,
/// the control socket, the store, and the file itself. Nothing is changed.
struct PlaceCheck {
    private let settings: Settings
    private var findings: [MachineCheck.Finding] = []

    private init(_ settings: Settings) { self.settings = settings }

    /// - Parameter isStarting: a node starts with these settings: it tells of its identity by
    ///   itself.
    static func findings(_ settings: Settings, isStarting: Bool) -> [MachineCheck.Finding] {
        var check = PlaceCheck(settings)
        check.checkState()
        if !isStarting { check.checkIdentity() }
        check.checkControl()
        check.checkStore()
        check.checkSecret()
        return check.findings
    }

    private mutating func fail(_ text: String) { add(text, isError: true) }

    private mutating func warn(_ text: String) { add(text, isError: false) }

    private mutating func add(_ text: String, isError: Bool) {
        findings.append(
            MachineCheck.Finding(isError: isError, file: settings.file, mark: nil, text: text))
    }

    private mutating func checkState() {
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
    private mutating func checkIdentity() {
        guard PathKind(settings.state) == .folder, access(settings.state, X_OK) == 0,
            let fault = NodeIdentity.fault(
                stateDirectory: settings.state, rule: settings.trust.isByKey ? .refuse : .makeNew)
        else { return }
        fail("state: \(fault)")
    }

    private mutating func checkControl() {
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

    private mutating func checkStore() {
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
    private mutating func checkSecret() {
        var status = stat()
        guard settings.hasInlineSecret, stat(settings.file, &status) == 0,
            status.st_mode & 0o077 != 0
        else { return }
        let mode = String(UInt32(status.st_mode) & 0o777, radix: 8)
        warn(
            "others may read this file (0\(mode)) and the secret in it; run `chmod 600` on it, or "
                + "use secret-file")
    }

    // MARK: Parts

    private static var errorText: String { MachineCheck.errorText }

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

    private static func folder(of path: String) -> String { path.pathFolder ?? "." }

    /// Why no folder could be made there; nil if one could.
    private static func faultOfMaking(_ path: String) -> String? {
        let parent = folder(of: path)
        guard let kind = PathKind(parent) else {
            return parent == path ? "no such path" : faultOfMaking(parent)
        }
        if kind != .folder { return "\(parent) is \(kind.text)" }
        return access(parent, W_OK | X_OK) == 0 ? nil : "\(parent): \(Self.errorText)"
    }
}
