import Configuration
import DurableFiles
import FailingFiles
import Glibc
import Testing

@testable import Setup

/// What is found on a machine, below another root.
struct MachineTests {
    private func write(_ text: String, _ path: String) throws {
        var folder = ""
        for part in Places.folder(of: path).split(separator: "/") {
            folder += "/" + part
            mkdir(folder, 0o755)
        }
        let stream = try #require(fopen(path, "w"))
        fputs(text, stream)
        fclose(stream)
    }

    private func settings(_ lines: String) throws -> Settings {
        let text = Array(("trust: any\n" + lines).utf8)
        guard case .good(let settings) = Settings.decode(text, file: Settings.standardPath) else {
            Issue.record("refused")
            throw CancellationError()
        }
        return settings
    }

    /// To Swift a slash with a mark behind it is another character; to the kernel it is a slash.
    @Test func theFolderOfAPathEndsAtItsLastSlash() {
        for (path, folder) in [
            ("/a/b", "/a"), ("/a/\u{301}b", "/a"), ("/\u{301}b", "/"), ("b", "."), ("a/b", "a"),
        ] {
            #expect(Places.folder(of: path) == folder)
        }
    }

    @Test func aServiceThatDoesNotAllowASensorIsTold() throws {
        try withTemporaryDirectory { root in
            let pin = try settings("sensors: [{driver: gpio, pin: GPIO17}]")
            #expect(NodeSetup.shortage(pin, root: root) == nil)
            try write(
                "[Service]\nUser=rivulet\nDevicePolicy=closed\n",
                root + "/usr/lib/systemd/system/rivulet-agent.service")
            let shortage = NodeSetup.shortage(pin, root: root)
            #expect(
                shortage
                    == "rivulet-agent.service does not allow what this needs "
                    + "(DeviceAllow=char-gpiochip rw); run `rivulet init --devices`")
            try write(
                NodeSetup.dropIn(for: pin, root: root), SystemdUnit.agent.dropIn(root: root))
            #expect(NodeSetup.shortage(pin, root: root) == nil)
            // Another file of the same folder counts too; the service of another role does not.
            try write(
                "[Service]\nDeviceAllow=char-89 rw\n",
                root + "/etc/systemd/system/rivulet-agent.service.d/z.conf")
            let bus = try settings("sensors: [{driver: i2c, device: scd4x}]")
            #expect(NodeSetup.shortage(bus, root: root) == nil)
            let relay = try settings("role: collector\nlinks: {bluetooth: {adapter: hci0}}")
            #expect(NodeSetup.shortage(relay, root: root) == nil)
        }
    }

    @Test func bluetoothIsFoundInSysfsOrTheDeviceTree() throws {
        let relay = try settings("role: relay")
        try withTemporaryDirectory { root in
            #expect(!MachineFacts(relay, root: root).hasBluetooth)
            try write("", root + "/proc/device-tree/soc/serial@7e201000/bluetooth/compatible")
            #expect(MachineFacts(relay, root: root).hasBluetooth)
        }
        try withTemporaryDirectory { root in
            try write("", root + "/sys/class/bluetooth/hci0/address")
            #expect(MachineFacts(relay, root: root).hasBluetooth)
        }
    }

    @Test func a32BitSystemIsToldWhatToDo() throws {
        try withTemporaryDirectory { root in
            #expect(BoardRemark(root: root).lines == [])
            try write("armhf\narm64\n", root + "/var/lib/dpkg/arch")
            let lines = BoardRemark(root: root).lines
            #expect(lines.count == 1)
            #expect(lines.first?.contains("this system is 32-bit (armhf)") == true)
            #expect(lines.first?.contains("Install the 64-bit system") == true)
            try write("arm64\narmhf\n", root + "/var/lib/dpkg/arch")
            #expect(BoardRemark(root: root).lines == [])
        }
    }

    @Test func aBoardThatIsNotKnownIsTold() throws {
        try withTemporaryDirectory { root in
            try write("nobody,board\u{0}", root + "/proc/device-tree/compatible")
            try write("A Board", root + "/proc/device-tree/model")
            let lines = BoardRemark(root: root).lines
            #expect(lines.first?.hasPrefix("this board is not known (A Board)") == true)
            #expect(lines.first?.contains("`rivulet board`") == true)
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func whatIsTheNodesIsItsOwnFromTheFirstMoment() throws {
        let owner = try #require(Owner(user: "nobody"))
        try withTemporaryDirectory { folder in
            let files = SetupFiles(owner: owner)
            try files.makeFolder(folder + "/a/state", permissions: 0o700, isOfTheNode: true)
            try files.write([1], to: folder + "/secret", permissions: 0o600, isOfTheNode: true)
            try files.write([1], to: folder + "/plain", permissions: 0o644)
            var status = stat()
            for (name, user, mode) in [
                ("a/state", owner.user, 0o700), ("secret", owner.user, 0o600), ("plain", 0, 0o644),
            ] as [(String, uid_t, mode_t)] {
                #expect(lstat("\(folder)/\(name)", &status) == 0)
                #expect(status.st_uid == user && status.st_mode & 0o777 == mode, "\(name)")
            }
            #expect(try files.adopt(folder + "/plain"))
            #expect(try !files.adopt(folder + "/plain"))
            // A folder that only root sees is opened for the service.
            #expect(chmod(folder + "/a", 0o700) == 0)
            #expect(try files.open(folder + "/a"))
            #expect(try !files.open(folder + "/a"))
        }
    }
}
