/// The file that lets a service open what its configuration needs, and nothing else
/// (systemd.exec(5), systemd.resource-control(5)). It begins with what others said before it, so
/// that what a sensor needed once goes with the sensor.
struct ServiceDropIn {
    let needs: ServiceNeeds
    let configuration: String

    private static let families = "AF_UNIX AF_INET AF_INET6 AF_NETLINK"
    private static let capabilities = "CAP_NET_ADMIN CAP_NET_RAW"

    var text: String {
        var lines = [
            "# Written by `rivulet init` from \(configuration); `rivulet init --devices` writes it",
            "# anew. What you add yourself belongs into another file of this folder.",
        ]
        if !needs.modules.isEmpty {
            let units = needs.modules.map { "modprobe@\($0).service" }.joined(separator: " ")
            lines += ["[Unit]", "Wants=\(units)", "After=\(units)", ""]
        }
        lines += ["[Service]"] + devices + bluetooth + files
        if needs.runsPrograms {
            lines += [
                "# Programs of `command` sensors run in this service too. What else they need,",
                "# such as DeviceAllow=/dev/… rw, goes into a file of yours.",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var devices: [String] {
        // Without any device the service gets a /dev of its own.
        let policy =
            needs.devices.isEmpty && !needs.runsPrograms
            ? ["PrivateDevices=yes"] : ["PrivateDevices=no", "DevicePolicy=closed"]
        return policy + ["DeviceAllow="] + needs.devices.map { "DeviceAllow=\($0)" }
    }

    private var bluetooth: [String] {
        let keys = ["CapabilityBoundingSet", "AmbientCapabilities"]
        let families = Self.families + (needs.usesBluetooth ? " AF_BLUETOOTH" : "")
        return keys.map { "\($0)=" }
            + (needs.usesBluetooth ? keys.map { "\($0)=\(Self.capabilities)" } : [])
            + ["RestrictAddressFamilies=", "RestrictAddressFamilies=\(families)"]
    }

    private var files: [String] {
        // The sign of per cent and the dollar are systemd's own.
        let commands = needs.preparations.map { "ExecStartPre=-+/bin/sh -c '\($0)'" }
        return (needs.writesKernelFiles ? ["ProtectKernelTunables=no"] : [])
            + commands
            + (needs.readsHomes ? ["ProtectHome=read-only"] : [])
            + (needs.usesTemporary ? ["PrivateTmp=no"] : [])
            + needs.writtenFolders.map { "ReadWritePaths=\"-\(Self.escaped($0))\"" }
    }

    private static func escaped(_ path: String) -> String {
        path.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "%": "%%"
            case "\"", "\\": "\\\(scalar)"
            default: String(scalar)
            }
        }.joined()
    }
}

extension ServiceNeeds {
    /// What of it these directives of a unit do not grant; empty: it has all it needs.
    func missing(in unit: UnitDirectives) -> [String] {
        missingDevices(unit) + missingBluetooth(unit) + missingFiles(unit)
    }

    private func missingDevices(_ unit: UnitDirectives) -> [String] {
        let isPrivate = Self.isOn(unit.last("PrivateDevices"))
        let allowed = unit.all("DeviceAllow") ?? []
        let isOpen = unit.last("DevicePolicy") ?? "auto" == "auto" && allowed.isEmpty
        guard !isOpen || isPrivate else { return [] }
        return devices.filter { isPrivate || !allowed.contains($0) }.map { "DeviceAllow=\($0)" }
    }

    private func missingBluetooth(_ unit: UnitDirectives) -> [String] {
        guard usesBluetooth else { return [] }
        var missing: [String] = []
        if let families = unit.words("RestrictAddressFamilies"), !families.contains("AF_BLUETOOTH")
        {
            missing.append("RestrictAddressFamilies=AF_BLUETOOTH")
        }
        // Root has what the bounding set leaves it; others what they are given.
        let isRoot = ["root", "0", nil].contains(unit.last("User"))
        for key in isRoot ? ["CapabilityBoundingSet"] : ["AmbientCapabilities"] {
            guard let words = unit.words(key) ?? (isRoot ? nil : []) else { continue }
            let lacking = ["CAP_NET_ADMIN", "CAP_NET_RAW"].filter { !words.contains($0) }
            if !lacking.isEmpty { missing.append("\(key)=" + lacking.joined(separator: " ")) }
        }
        return missing
    }

    private func missingFiles(_ unit: UnitDirectives) -> [String] {
        var missing: [String] = []
        if writesKernelFiles, Self.isOn(unit.last("ProtectKernelTunables")) {
            missing.append("ProtectKernelTunables=no")
        }
        if readsHomes, ["yes", "true", "on", "1", "tmpfs"].contains(unit.last("ProtectHome")) {
            missing.append("ProtectHome=read-only")
        }
        if usesTemporary, Self.isOn(unit.last("PrivateTmp")) { missing.append("PrivateTmp=no") }
        guard unit.last("ProtectSystem") == "strict" else { return missing }
        let writable = unit.all("ReadWritePaths")?.joined(separator: " ") ?? ""
        return missing
            + writtenFolders.filter { !writable.utf8.contains(subsequence: $0.utf8) }
            .map { "ReadWritePaths=\($0)" }
    }

    private static func isOn(_ value: String?) -> Bool {
        ["yes", "true", "on", "1"].contains(value)
    }
}

extension Sequence where Element: Equatable {
    /// Whether these elements stand in it one after the other.
    fileprivate func contains(subsequence part: some Sequence<Element>) -> Bool {
        let (all, part) = (Array(self), Array(part))
        return all.indices.contains { all[$0...].starts(with: part) }
    }
}
