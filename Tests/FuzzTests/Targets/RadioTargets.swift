@testable import NearbyBluetooth

extension FuzzTarget {
    /// What the kernel's Bluetooth brings from others.
    static let radio: [FuzzTarget] = [
        FuzzTarget("bluetooth-management") { _ = try? ManagementEvent(parsing: $0) },
        FuzzTarget("advertisement") { _ = try? Advertisement(parsing: $0) },
    ]
}
