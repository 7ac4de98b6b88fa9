/// What tells which board a machine is.
public struct MachineIdentity: Equatable, Sendable {
    /// The device tree's `compatible`, most specific first; at most 16. Empty without one.
    public var compatible: [String]
    /// As the device tree or the firmware names it; empty where neither does.
    public var model: String
    /// Whether there is a device tree: without one it is a PC, a server or a virtual machine.
    public var hasDeviceTree: Bool

    /// Reads what the kernel tells, below `root`.
    public init(root: String = "") { self.init(SystemTree(root: root)) }

    init(_ tree: SystemTree) {
        // /proc/device-tree is the name that stays (Documentation/ABI/testing/sysfs-firmware-ofw).
        let list = tree.bytes("/proc/device-tree/compatible") ?? []
        compatible = list.split(separator: 0).prefix(16).map {
            String(decoding: $0, as: UTF8.self)
        }.filter(BoardText.isFileName)
        hasDeviceTree = tree.exists("/proc/device-tree/compatible")
        let dmi = ["sys_vendor", "product_name"].compactMap { tree.line("/sys/class/dmi/id/\($0)") }
        model = tree.line("/proc/device-tree/model") ?? dmi.joined(separator: " ")
    }
}
