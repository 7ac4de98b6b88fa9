import Configuration

extension Settings {
    /// Whether this node leaves nothing behind: its identity is in memory, and it has no control
    /// socket.
    var keepsNothing: Bool { state.isEmpty }

    /// The process that runs as this node already.
    package var runningNode: String? { StateLock.holder(of: state) }

    /// A viewer beside the node of these settings, on the same machine: it keeps nothing, and
    /// leaves that node its port, its Bluetooth controller and its name in Avahi.
    package var lookingIn: Settings {
        var settings = self
        settings.role = .viewer
        settings.state = ""
        settings.store = nil
        settings.udp.port = 0
        settings.avahi = .off
        settings.bluetooth.isOn = false
        settings.bluetooth.isAsked = false
        return settings
    }
}
