import Glibc

/// Where it is a service's unit that keeps a file from us: systemd's `DeviceAllow=` gives EPERM for
/// a device, and `ProtectKernelTunables=` makes /sys read-only.
enum UnitRefusal {
    /// What to do about errno's `code`; nil if no unit is to blame.
    static func advice(_ code: Int32, isService: Bool = Self.isService) -> String? {
        guard isService, code == EPERM || code == EROFS else { return nil }
        let directive = code == EPERM ? "DeviceAllow" : "ProtectKernelTunables"
        return "the service's unit forbids it (\(directive)=); `rivulet init --devices` allows "
            + "what the configuration needs"
    }

    /// strerror(3), and what to do.
    static func message(_ code: Int32) -> String {
        let text = SensorFile.message(code)
        return advice(code).map { "\(text); \($0)" } ?? text
    }

    /// systemd gives each start of a service an id (systemd.exec(5)).
    static var isService: Bool { getenv("INVOCATION_ID") != nil }
}
