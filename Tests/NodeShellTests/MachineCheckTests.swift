import Configuration
import Glibc
import Testing

@testable import NodeShell

/// What of a configuration does not fit a machine.
final class MachineCheckTests {
    private let folder: String

    init() {
        var template = Array("/tmp/rivulet-check-XXXXXX".utf8CString)
        folder = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        for name in MachineCheck.entries(of: folder) { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    private func write(_ name: String, _ text: String, mode: mode_t = 0o600) -> String {
        let path = "\(folder)/\(name)"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
        var bytes = Array(text.utf8)
        _ = Glibc.write(file, &bytes, bytes.count)
        fchmod(file, mode)
        close(file)
        return path
    }

    /// The findings of a configuration with folders that exist, without the file's name.
    private func findings(
        _ lines: String, state: String? = nil, control: String? = nil, reads: Bool = false,
        page: (bind: String, port: UInt16)? = nil
    ) throws -> [String] {
        let text = """
            trust: any
            state: \(state ?? folder)
            control: \(control ?? folder + "/sock")
            \(lines)
            """
        guard case .good(let settings) = Settings.decode(Array(text.utf8), file: "f") else {
            Issue.record("\(Settings.decode(Array(text.utf8), file: "f"))")
            return []
        }
        var findings = MachineCheck.findings(
            settings, isStarting: false, page: page, root: folder)
        if reads { findings += MachineCheck.trial(settings, without: findings) }
        return findings.map { String($0.description.dropFirst(1)) }
    }

    private func isTold(
        _ part: String, _ findings: [String], _ place: SourceLocation = #_sourceLocation
    ) {
        #expect(findings.count == 1, "\(findings)", sourceLocation: place)
        #expect(findings.first?.contains(part) == true, "\(findings)", sourceLocation: place)
    }

    @Test func whatFitsIsNotTold() throws {
        #expect(try findings("role: relay") == [])
    }

    // MARK: Folders

    @Test func theStateIsAFolderOfARealFileSystem() throws {
        let file = write("file", "")
        isTold("file is a file; it must be a folder", try findings("", state: file))
        isTold("is the kernel's and keeps nothing", try findings("", state: "/proc"))
        isTold("is the kernel's and keeps nothing", try findings("", state: "/proc/rivulet"))
        isTold("cannot be created: \(file) is a file", try findings("", state: file + "/state"))
        #expect(try findings("", state: folder + "/new/state") == [])
    }

    /// A node would refuse to start with it.
    @Test func anIdentityThatCannotBeUsedIsTold() throws {
        _ = write("identity.pem", "garbage")
        isTold("the identity file is damaged", try findings("role: relay"))
        _ = write("identity.pem", "garbage", mode: 0o644)
        isTold("others can read the identity's key", try findings("role: relay"))
    }

    @Test func theControlSocketHasAFolderAndNothingInItsWay() throws {
        isTold(
            "there is no folder \(folder)/no/run",
            try findings("", control: folder + "/no/run/s"))
        // The agent makes it.
        #expect(try findings("", control: folder + "/run/s") == [])
        isTold("is a file; it must be a socket", try findings("", control: write("s", "")))
    }

    @Test func theStoreHasAFolder() throws {
        let missing = "role: collector\ncollector: {store: \(folder)/no/store.sqlite}"
        isTold("there is no folder \(folder)/no", try findings(missing))
        isTold(
            "is a folder; it must be a file",
            try findings("role: collector\ncollector: {store: \(folder)}"))
        #expect(try findings("role: collector") == [])
        #expect(try findings("role: collector", state: folder + "/new") == [])
    }

    @Test func aSecretThatOthersMayReadIsTold() throws {
        let secret = Secret.text((0..<16).map { $0 })
        for (mode, count) in [(0o644, 1), (0o600, 0)] as [(mode_t, Int)] {
            let path = write(
                "config.yaml",
                "secret: \(secret)\nstate: \(folder)\ncontrol: \(folder)/sock\nrole: relay\n",
                mode: mode)
            guard case .good(let settings) = Settings.load(path) else {
                Issue.record("refused")
                return
            }
            let findings = MachineCheck.findings(settings, isStarting: false)
            #expect(findings.count == count)
            #expect(findings.allSatisfy { $0.text.contains("chmod 600") && !$0.isError })
        }
    }

    // MARK: Links

    @Test func interfacesThatAreNotHereAreTold() throws {
        isTold(
            "warning: links.udp.interfaces: there is no nosuch0 here; there are ",
            try findings("links: {udp: {interfaces: [lo, nosuch0]}}"))
        isTold(
            "4:23: warning: peers: there is no nosuch0 here",
            try findings("links: {udp: {peers: [\"[fe80::1%nosuch0]:4577\"]}}"))
    }

    /// Binds a socket to a free port of 127.0.0.1 or all addresses.
    private func takePort(_ socket: Int32, ofLoopback: Bool = false) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        if ofLoopback { address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian }
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw -> UInt16 in
                guard bind(socket, raw, size) == 0, getsockname(socket, raw, &size) == 0 else {
                    return 0
                }
                return pointer.pointee.sin_port.byteSwapped
            }
        }
        try #require(port != 0)
        return port
    }

    @Test func aPortThatIsInUseIsTold() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(socket) }
        let port = try takePort(socket)
        isTold("\(port) is in use; `ss -ulpn`", try findings("links: {udp: {port: \(port)}}"))
    }

    @Test func aPagePortThatIsInUseIsTold() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let port = try takePort(socket, ofLoopback: true)
        listen(socket, 1)
        let page = (bind: "127.0.0.1", port: port)
        isTold("web.port: \(port) is in use; `ss -tlpn`", try findings("", page: page))
        #expect(try findings("", page: ("::1", port)) == [])
        close(socket)
        #expect(try findings("", page: page) == [])
    }

    @Test func aLightAndARadioThatAreNotHereAreTold() throws {
        isTold("there is no light NO here", try findings("status-led: {led: 'NO'}"))
        isTold(
            "no Bluetooth controller", try findings("links: {bluetooth: {adapter: hci0}}"))
    }

    // MARK: Sensors

    @Test func programsMustBeThereAndRun() throws {
        let plain = write("plain", "#!/bin/sh\necho 1\n", mode: 0o644)
        let script = write("script", "#!/no/such/python -u\n", mode: 0o755)
        let good = write("good", "#!/bin/sh\necho 1\n", mode: 0o755)
        let command = { (program: String) in
            "sensors: [{driver: command, name: x, run: [\(program)]}]"
        }
        isTold("No such file", try findings(command("/no/such")))
        isTold("is a folder, not a program", try findings(command(folder)))
        isTold("plain cannot be started", try findings(command(plain)))
        isTold("begins with #!/no/such/python", try findings(command(script)))
        #expect(try findings(command(good)) == [])
    }

    @Test func aProgramThatGivesNoValueIsToldWithWhatItSays() throws {
        let bad = write("bad", "#!/bin/sh\necho no bus >&2\nexit 3\n", mode: 0o755)
        let text = "sensors: [{driver: command, name: x, run: [\(bad)]}]"
        #expect(try findings(text) == [])
        isTold("gives no value: exit status 3: no bus", try findings(text, reads: true))
    }

    @Test func recordingsMustHaveTheirForm() throws {
        let replay = { (path: String) in "sensors: [{driver: replay, file: \(path)}]" }
        isTold("No such file", try findings(replay("/no/such.csv")))
        isTold("a pipe, not a file", try findings(replay("/dev/zero")))
        isTold(
            "first line must name the columns", try findings(replay(write("a.csv", "1,2\n3,4\n"))))
        isTold("0 columns beside time", try findings(replay(write("b.csv", "time\n3\n"))))
        isTold(
            "the unit of column t is celsius; write Cel",
            try findings(replay(write("c.csv", "time,t [celsius]\n1,2\n"))))
        #expect(try findings(replay(write("d.csv", "time,t [Cel]\n1,2\n"))) == [])
    }

    @Test func namesBelowChannelsAreComparedWithWhatThereIs() throws {
        let file = write("d.csv", "time,inside [Cel]\n1,2\n")
        isTold(
            "no channel of this sensor is called outside; there are inside",
            try findings(
                "sensors: [{driver: replay, file: \(file), channels: {outside: {scale: 2}}}]"))
        isTold(
            "no channel of this sensor is called load.2m; there are load.1m",
            try findings(
                "sensors: [{driver: system, disks: [], channels: {load.2m: {scale: 2}}}]",
                reads: true))
    }

    @Test func portsBusesPinsAndDisksMustBeThere() throws {
        isTold(
            "warning: there is no /dev/ttyUSB7 here; is it plugged in?",
            try findings("sensors: [{driver: serial, device: /dev/ttyUSB7, protocol: nmea}]"))
        isTold(
            "warning: there is no /dev/i2c-7 here",
            try findings("sensors: [{driver: i2c, device: vl53l0x, bus: 7}]"))
        isTold(
            "warning: gpio:", try findings("sensors: [{driver: gpio, pin: NO_SUCH_PIN}]"))
        isTold(
            "disks: there is no folder /no/such",
            try findings("sensors: [{driver: system, disks: [/, /no/such]}]"))
    }
}
