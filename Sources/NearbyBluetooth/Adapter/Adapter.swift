import NearbyCore

/// Which controller is used.
public enum AdapterSelection: Equatable, Sendable {
    /// The lowest-numbered one that can do LE.
    case any
    /// `hci` and this number.
    case index(UInt16)
    /// 48 bits.
    case address(UInt64)

    /// A name, as `hci0`, or an address; nil for another text.
    public init?(text: String) {
        if let address = BluetoothAddress(text: text, kind: .lowEnergyPublic) {
            self = .address(address.value)
        } else if text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)) {
            self = .index(number)
        } else {
            return nil
        }
    }
}

/// The controller in use.
public struct Adapter: Equatable, Sendable {
    /// As in `hci0`.
    public var index: UInt16
    public var address: BluetoothAddress
}

extension Adapter {
    /// The controller's number above all that interfaces have.
    public var link: LinkID { LinkID(value: 0x8000_0000 | UInt32(index)) }
}
