import Telemetry
import Testing

@testable import Sensors

/// What the system driver reads of radios, frequencies and the supply.
struct SystemDriverKernelTests {
    private let root = TemporaryFolder()

    private func texts(_ system: SystemDriver, _ part: String) -> [String] {
        system.sample().map(\.text).filter { $0.contains(part) }
    }

    /// As Debian 12 and Raspberry Pi OS print it.
    private func wireless(_ rows: String) {
        root.write(
            "proc/net/wireless",
            """
            Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
             face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22
            \(rows)

            """)
    }

    @Test func signalOfARadioIsRead() {
        let system = SystemDriver(disks: [], root: root.path)
        #expect(texts(system, "signal") == [])
        wireless(" wlan0: 0000   60.  -50.  -256        0      0      0      1     65        0")
        #expect(texts(system, "signal") == ["net.wlan0.signal dBm -50"])
    }

    @Test func aRadioWithoutANetworkOrWithoutDecibelsIsToldApart() {
        wireless(
            """
             wlan0: 0000    0     0     0        0      0      0      0      0        0
             wlan1: 0000   70.   45.  0          0      0      0      0      0        0
             wlan2: 0000   x  y z
             wlan3: 0
            """)
        let system = SystemDriver(disks: [], root: root.path)
        #expect(
            texts(system, "signal") == [
                "net.wlan0.signal dBm null:absent", "net.wlan2.signal dBm null:malformed",
                "net.wlan3.signal dBm null:malformed",
            ])
    }

    /// Linux takes almost any byte into an interface's name.
    @Test func anInterfacesNameBecomesOneThatCanBeSent() {
        wireless(
            " wl\u{1}n\u{7f}: 0000   60.  -50.  -256        0      0      0      1     65        0")
        let system = SystemDriver(disks: [], root: root.path)
        #expect(texts(system, "signal") == ["net.wl?n?.signal dBm -50"])
    }

    @Test func aRadioThatIsPulledOutIsNull() {
        wireless(" wlan1: 0000   60.  -71.  -256        0      0      0      1     65        0")
        let system = SystemDriver(disks: [], root: root.path)
        #expect(texts(system, "signal") == ["net.wlan1.signal dBm -71"])
        wireless("")
        #expect(texts(system, "signal") == ["net.wlan1.signal dBm null:absent"])
    }

    @Test func frequenciesAreHertz() {
        root.write("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1500000\n")
        root.write("sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "2400000\n")
        root.write("sys/devices/system/cpu/cpufreq/policy12/scaling_cur_freq", "fast\n")
        let system = SystemDriver(disks: [], root: root.path)
        #expect(
            texts(system, "frequency") == [
                "cpu.frequency Hz 1500000000", "cpu4.frequency Hz 2400000000",
                "cpu12.frequency Hz null:malformed",
            ])
    }

    @Test func undervoltageIsToldByTheRightChip() {
        root.write("sys/class/hwmon/hwmon0/name", "cpu_thermal\n")
        root.write("sys/class/hwmon/hwmon0/in0_lcrit_alarm", "1\n")
        let system = SystemDriver(disks: [], root: root.path)
        #expect(texts(system, "undervoltage") == [])
        root.write("sys/class/hwmon/hwmon1/name", "rpi_volt\n")
        #expect(texts(system, "undervoltage") == ["undervoltage 1 null:absent"])
        root.write("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "0\n")
        #expect(texts(system, "undervoltage") == ["undervoltage 1 0"])
        root.write("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1\n")
        #expect(texts(system, "undervoltage") == ["undervoltage 1 1"])
    }
}
