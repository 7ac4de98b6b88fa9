import Configuration
import NearbyBluetooth

/// Which controller to use, and whether it is worth a warning if there is none.
public struct BluetoothChoice: Sendable {
    public var selection = AdapterSelection.any
    public var peers: [BluetoothAddress] = []
    public var isAsked = false

    public init() {}

    /// Nil if Bluetooth is off.
    init?(_ settings: BluetoothSettings) {
        guard settings.isOn else { return nil }
        isAsked = settings.isAsked
        peers = settings.peers.compactMap { BluetoothAddress(text: $0, kind: .classic) }
        selection = settings.adapter.flatMap { AdapterSelection(text: $0) } ?? .any
    }
}
