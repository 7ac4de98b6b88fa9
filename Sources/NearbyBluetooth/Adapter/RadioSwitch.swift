import Glibc

/// What rfkill says of a controller. Kernels up to 6.1 at least answer a blocked `setPowered` with
/// a mere "failed"; sysfs tells the reason.
enum RadioSwitch {
    static func isBlocked(_ index: UInt16) -> Bool {
        ["soft", "hard"].contains { name in
            var found = glob_t()
            defer { globfree(&found) }
            guard glob("/sys/class/bluetooth/hci\(index)/rfkill*/\(name)", 0, nil, &found) == 0,
                found.gl_pathc > 0, let path = found.gl_pathv[0]
            else { return false }
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            var byte: UInt8 = 0
            return read(file, &byte, 1) == 1 && byte == UInt8(ascii: "1")
        }
    }
}

extension ManagementEvent {
    /// This event with the reason that the kernel left out.
    var explained: ManagementEvent {
        guard case .failed(.setPowered, .failed) = body, let index, RadioSwitch.isBlocked(index)
        else { return self }
        return ManagementEvent(index: index, body: .failed(.setPowered, .rfkilled))
    }
}
