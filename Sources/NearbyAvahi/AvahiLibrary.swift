import CAvahi
import Glibc

/// The client library, loaded where there may be a D-Bus: on Debian 12 it brings nine others.
struct AvahiLibrary {
    /// What each function of CAvahi takes first; valid for good.
    let functions: UnsafeMutableRawPointer

    /// Nil where it cannot be used, for a reason that `fault` takes.
    init?(fault: inout String) {
        var reason: UnsafePointer<CChar>?
        guard let functions = cavahi_load(&reason) else {
            fault = reason.map { String(cString: $0) } ?? "no libavahi-client"
            return nil
        }
        self.functions = functions
    }

    /// The library's own function of this name, where the program has one too.
    static func symbol(_ name: String) -> UnsafeMutableRawPointer? { cavahi_symbol(name) }

    /// The reason of a fault.
    func text(_ fault: Int32) -> String {
        cavahi_strerror(functions, fault).map { String(cString: $0) } ?? "fault \(fault)"
    }

    /// The TXT record in its wire form; one that is too long is cut one byte beyond what is read.
    func record(_ strings: UnsafeMutablePointer<AvahiStringList>?) -> [UInt8] {
        let wanted = cavahi_string_list_serialize(functions, strings, nil, 0)
        let count = min(wanted, ServiceRecord.bytesMax + 1)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            let had = cavahi_string_list_serialize(functions, strings, buffer.baseAddress, count)
            written = min(count, had)
        }
    }

    // MARK: The bus

    /// Whether the system bus's socket exists; true if the environment gives more than a plain
    /// path: then the library finds out.
    static var mayHaveBus: Bool {
        guard let path = busPath(getenv("DBUS_SYSTEM_BUS_ADDRESS")) else { return true }
        return access(path, F_OK) == 0
    }

    /// The socket of an address (D-Bus Specification, Server Addresses); nil: it is more than the
    /// plain path of one.
    static func busPath(_ address: UnsafePointer<CChar>?) -> String? {
        guard let address else { return "/var/run/dbus/system_bus_socket" }
        let prefix = "unix:path="
        guard strncmp(address, prefix, prefix.utf8.count) == 0, strpbrk(address, ",;%") == nil
        else { return nil }
        return String(cString: address + prefix.utf8.count)
    }
}
