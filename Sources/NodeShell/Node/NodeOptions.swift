import NearbyEngine
import NearbyLinux

/// What the shell around a node needs to know.
public struct NodeOptions {
    public var configuration: NodeConfiguration
    /// UDP port; 0 takes one of the kernel's choice.
    public var port: UInt16 = 0
    /// Interfaces by name; empty: all that lead to neighbours.
    public var interfaces: [String] = []
    public var beacon = true
    /// Addresses to try, as written in the configuration.
    public var staticPeers: [AddressText] = []
    /// False: no UDP socket at all.
    var usesUDP = true
    /// nil: Bluetooth is off.
    public var bluetooth: BluetoothChoice?

    public init(configuration: NodeConfiguration) { self.configuration = configuration }
}
