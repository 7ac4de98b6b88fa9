import CBluetooth
import Glibc
import NearbyCore
import NearbyLinux

/// The kernel's Bluetooth management interface: no daemon, and no root beyond CAP_NET_ADMIN.
final class ManagementSocket {
    let file: FileDescriptor
    private(set) var drops = DropCounters()

    init() throws(SystemError) {
        file = try FileDescriptor(
            taking: cbluetooth_management_socket(), from: "Bluetooth management socket")
    }

    func send(_ command: ManagementCommand, to index: UInt16?) {
        let bytes = command.bytes(for: index)
        // A command that is lost is one that runs into its time limit.
        _ = Glibc.send(file.raw, bytes, bytes.count, 0)
    }

    /// Hands over what has arrived, at most 64 messages.
    func receive(_ body: (ManagementEvent) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<64 {
            let count = recv(file.raw, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            do throws(WireError) {
                body(try ManagementEvent(parsing: Array(buffer.prefix(count))).explained)
            } catch {
                drops.count(.managementMalformed)
            }
        }
    }

    /// Waits until something has arrived; false if nothing did.
    func wait(_ time: Duration) -> Bool {
        var descriptor = pollfd(fd: file.raw, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, Int32(clamping: max(0, time.milliseconds))) > 0
    }
}
