import CAvahi
import Glibc

/// The client library, loaded when there is a bus on which a daemon may be: nine others come with
/// it, which take half a megabyte and a millisecond of the start.
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

    /// One of a library that came with it, in place of a function of that name that we have.
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

    /// Whether there is a system bus. What the environment names is no path: then the library is
    /// to find out.
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
