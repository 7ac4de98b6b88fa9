import Testing

@testable import NearbyAvahi

@Suite struct AvahiLibraryTests {
    @Test func itIsLoadedWithAllThatIsCalledOfIt() throws {
        var fault = ""
        let loaded = AvahiLibrary(fault: &fault)
        #expect(fault.isEmpty)
        let library = try #require(loaded)
        #expect(library.text(0) == "OK")
        #expect(library.record(nil) == [0], "an empty TXT record has one empty string")
        #expect(AvahiLibrary.symbol("dbus_connection_send_with_reply_and_block") != nil)
        #expect(AvahiLibrary.symbol("dbus_connection_never_was") == nil)
    }

    @Test(
        arguments: [
            (nil, "/var/run/dbus/system_bus_socket"),
            ("unix:path=/run/bus.sock", "/run/bus.sock"),
            ("unix:path=/run/bus.sock,guid=9a2c", nil),
            ("unix:path=/run/a%20b", nil),
            ("unix:path=/run/a;unix:path=/run/b", nil),
            ("unix:abstract=/tmp/dbus", nil),
            ("tcp:host=127.0.0.1,port=1", nil),
            ("", nil),
        ] as [(String?, String?)])
    func aBusIsLookedForWhereItsAddressSays(address: String?, path: String?) {
        #expect(AvahiLibrary.busPath(address) == path)
    }
}
