import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Sampling
@testable import Sensors

struct SystemDriverTests {
    private let root = TemporaryFolder()

    private func board() {
        root.write("proc/loadavg", "0.52 0.58 0.59 1/389 12345\n")
        root.write(
            "proc/meminfo",
            """
            MemTotal:         948280 kB
            MemFree:          112880 kB
            MemAvailable:     624116 kB
            SwapTotal:        102396 kB
            SwapFree:         102140 kB

            """)
        root.write("proc/uptime", "350735.47 234388.90\n")
        root.write("proc/stat", "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 100 0 50 800 50 0 0 0 0 0\n")
        root.write(
            "proc/net/dev",
            """
            Inter-|   Receive                                                |  Transmit
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets
                lo: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0
              eth0:1296 10 0 0 0 0 0 0 820 7 0 0 0 0 0 0
             wlan0: 18446744073709551615 10 0 0 0 0 0 0 5 7 0 0 0 0 0 0

            """)
        root.write("sys/class/thermal/thermal_zone0/type", "gpu-thermal\n")
        root.write("sys/class/thermal/thermal_zone0/temp", "40000\n")
        root.write("sys/class/thermal/thermal_zone1/type", "cpu-thermal\n")
        root.write("sys/class/thermal/thermal_zone1/temp", "48312\n")
    }

    private func driver(disks: [String] = []) -> SystemDriver {
        SystemDriver(disks: disks, root: root.path)
    }

    @Test func aBoardIsRead() {
        board()
        let system = driver()
        #expect(
            system.sample().map(\.text) == [
                "load.1m 1 0.52", "load.5m 1 0.58", "load.15m 1 0.59", "memory.free B 639094784",
                "memory.total B 971038720", "swap.free B 104591360", "swap.total B 104853504",
                "cpu.use % null:warming-up", "cpu.temperature Cel 48.312", "uptime s 350735.47",
                "net.eth0.received B 1296", "net.eth0.sent B 820",
                "net.wlan0.received B 18446744073709551620", "net.wlan0.sent B 5",
            ])
    }

    @Test func useOfTheProcessorIsTakenBetweenSamples() {
        board()
        let system = driver()
        func use() -> String? {
            system.sample().first { $0.channel == "cpu.use" }?.text
        }
        #expect(use() == "cpu.use % null:warming-up")
        root.write("proc/stat", "cpu  120 0 55 860 65 0 0 0 0 0\n")
        #expect(use() == "cpu.use % 25.0")
        #expect(use() == "cpu.use % null:warming-up", "no time has passed")
        root.write("proc/stat", "cpu  1 0 1 1 1 0 0 0\n")
        #expect(use() == "cpu.use % null:warming-up", "the counters went back")
        root.write("proc/stat", "cpu  200 x 60 900 70 0 0 0\n")
        #expect(use() == "cpu.use % null:malformed", "no column takes another's place")
        root.write("proc/stat", "cpu  9223372036854775807 9223372036854775807 1 1 1\n")
        #expect(use() != nil)
    }

    @Test func eachMissingFileIsANullWithItsReason() {
        #expect(
            driver(disks: ["/nowhere"]).sample().map(\.text) == [
                "load.1m 1 null:absent", "load.5m 1 null:absent", "load.15m 1 null:absent",
                "memory.free B null:absent", "memory.total B null:absent",
                "swap.free B null:absent", "swap.total B null:absent", "cpu.use % null:absent",
                "uptime s null:absent", "disk.use /nowhere % null:absent",
                "disk.free /nowhere B null:absent", "net.received B null:absent",
                "net.sent B null:absent",
            ])
    }

    @Test func garbageIsMalformedAndNoValueIsOld() {
        board()
        let system = driver()
        _ = system.sample()
        for name in ["proc/loadavg", "proc/meminfo", "proc/uptime", "proc/stat"] {
            root.write(name, "\u{0}\u{ff} MemTotal: much\ncpu x y z\nSwapFree: -1 kB\n")
        }
        root.write("sys/class/thermal/thermal_zone1/temp", "hot\n")
        root.write("proc/net/dev", "\n\n:::\n eth0: 1 2\n")
        for measurement in system.sample() {
            #expect(measurement.outcome.value == nil, "\(measurement.text)")
        }
    }

    @Test func withoutAThermalZoneThereIsNoTemperature() {
        #expect(!driver().sample().contains { $0.channel == "cpu.temperature" })
        root.write("sys/class/thermal/thermal_zone0/type", "acpitz\n")
        #expect(
            driver().sample().map(\.text).contains("cpu.temperature Cel null:failed"))
        root.write("sys/class/thermal/thermal_zone0/temp", "27800\n")
        #expect(driver().sample().map(\.text).contains("cpu.temperature Cel 27.800"))
    }

    @Test func thisMachineIsRead() throws {
        let system = SystemDriver(disks: ["/"])
        let values = system.sample()
        for channel in ["load.1m", "memory.free", "memory.total", "uptime", "disk.use /"] {
            let value = try #require(values.first { $0.channel == channel })
            #expect(value.outcome.value != nil, "\(channel)")
        }
        #expect(values.count <= Limits.channelsPerSensorMax)
    }

    @Test func channelsAreBoundedHoweverManyInterfacesThereAre() {
        let lines = (0..<500).map { "v\($0): 1 2 3 4 5 6 7 8 9 10" }.joined(separator: "\n")
        root.write("proc/net/dev", "a\nb\n" + lines + "\n")
        #expect(driver().sample().count == Limits.channelsPerSensorMax)
    }
}
