import Configuration
import NearbyCore
import NearbyEngine
import NearbyLinux

/// What is wrong where a node starts, though nothing that prevents the start.
enum StartWarnings {
    /// With these settings on this machine.
    static func tell(_ settings: Settings, _ log: StandardErrorLog) {
        for warning in settings.warnings { log.write(.warning, warning.description) }
        for finding in MachineCheck.findings(settings, isStarting: true) {
            log.write(finding.isError ? .error : .warning, finding.description)
        }
    }

    /// With this node.
    ///
    /// - Parameter isExposed: another process can use its state directory at the same time.
    static func lines(
        _ settings: Settings, _ role: Role, _ own: PeerID, isExposed: Bool
    ) -> [String] {
        var lines: [String] = []
        if isExposed {
            lines.append(
                "\(settings.state): no lock can be taken there; see to it that no other process "
                    + "uses this state directory")
        }
        // It takes no readings of those who go by the same list.
        if role == .collector, !settings.collectors.isEmpty,
            !settings.collectors.contains(own)
        {
            lines.append(
                "collectors: does not name this collector, \(own); nodes with the same list give "
                    + "it no readings: add it to theirs, and here")
        }
        return lines
    }
}
