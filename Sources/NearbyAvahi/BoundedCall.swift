import Glibc

/// Stands before libdbus's function of this name: the client library waits in it for the daemon's
/// answer, by default 25 s, and our whole node with it. Here it waits for `CallLimit.milliseconds`.
///
/// The program's symbol is found before the shared library's (ld.so(8)), so the library calls this
/// one, which calls libdbus's own.
@_cdecl("dbus_connection_send_with_reply_and_block")
public func boundedCall(
    _ connection: OpaquePointer?, _ message: OpaquePointer?, _ timeout: Int32,
    _ fault: UnsafeMutableRawPointer?
) -> OpaquePointer? {
    CallLimit.next?(connection, message, CallLimit.milliseconds, fault)
}

/// How long a call may take. A healthy daemon answers within a millisecond or two.
enum CallLimit {
    static let milliseconds: Int32 = 200

    fileprivate typealias Call =
        @convention(c) (
            OpaquePointer?, OpaquePointer?, Int32, UnsafeMutableRawPointer?
        ) -> OpaquePointer?

    fileprivate static let next: Call? = {
        let symbol = AvahiLibrary.symbol("dbus_connection_send_with_reply_and_block")
        return symbol.map { unsafeBitCast($0, to: Call.self) }
    }()
}
