import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Sensors

/// The device's character file is a FIFO whose other end the test has, so that scans come as they
/// do from the kernel.
struct IIOBufferDriverTests {
    private let tree = SysfsTree()
    private static let device = "sys/bus/iio/devices/iio:device0"

    private func adc() {
        tree.write(
            Self.device,
            [
                "name": "mcp3208\n", "in_voltage_scale": "0.805664062\n",
                "current_timestamp_clock": "realtime\n", "sampling_frequency": "100\n",
                "buffer/enable": "0\n", "buffer/length": "2\n", "buffer/watermark": "1\n",
                "trigger/current_trigger": "old\n",
                "scan_elements/in_voltage0_en": "0\n", "scan_elements/in_voltage0_index": "0\n",
                "scan_elements/in_voltage0_type": "be:u12/16>>0\n",
                "scan_elements/in_voltage1_en": "0\n", "scan_elements/in_voltage1_index": "1\n",
                "scan_elements/in_voltage1_type": "be:u12/16>>0\n",
                "scan_elements/in_voltage2_en": "1\n", "scan_elements/in_voltage2_index": "2\n",
                "scan_elements/in_voltage2_type": "be:u12/16>>0\n",
                "scan_elements/in_timestamp_en": "0\n", "scan_elements/in_timestamp_index": "8\n",
                "scan_elements/in_timestamp_type": "le:s64/64>>0\n",
            ])
        tree.write("sys/bus/iio/devices/trigger0", ["name": "old\n"])
        tree.write(
            "sys/bus/iio/devices/trigger1", ["name": "fast\n", "sampling_frequency": "10\n"])
        tree.makeFolder("dev")
        mkfifo(tree.root + "/dev/iio:device0", 0o600)
    }

    /// The kernel's end; open before the driver, or its reads would find the end of the file.
    /// Not for the programs that other tests start: they would keep it open.
    private func kernelEnd() -> Int32 { open(tree.root + "/dev/iio:device0", O_RDWR | O_CLOEXEC) }

    private func driver(trigger: String? = "fast", frequency: String? = "1000") -> IIOBufferDriver {
        IIOBufferDriver(
            device: "mcp3208", channels: ["voltage0", "voltage1"], trigger: trigger,
            frequency: frequency, root: tree.root)
    }

    /// 16 bytes: two channels, a gap, the time.
    private func scan(_ first: UInt16, _ second: UInt16, at time: Int64) -> [UInt8] {
        var writer: [UInt8] = []
        for value in [first, second, 0xDEAD, 0xBEEF] {
            writer += [UInt8(value >> 8), UInt8(value & 0xFF)]
        }
        let stamp = UInt64(bitPattern: time)
        return writer + (0..<8).map { UInt8(truncatingIfNeeded: stamp >> (8 * UInt64($0))) }
    }

    private func settings() -> [String?] {
        [
            "buffer/enable", "buffer/length", "buffer/watermark", "trigger/current_trigger",
            "current_timestamp_clock", "scan_elements/in_voltage0_en",
            "scan_elements/in_voltage2_en", "scan_elements/in_timestamp_en", "sampling_frequency",
        ].map { tree.read("\(Self.device)/\($0)") }
            + [tree.read("sys/bus/iio/devices/trigger1/sampling_frequency")]
    }

    @Test func scansAreReadWithTheirTimesAndEverythingIsPutBack() {
        adc()
        let before = settings()
        let kernel = kernelEnd()
        defer { close(kernel) }
        var adc: IIOBufferDriver? = driver()
        #expect(
            adc?.sample().map(\.text) == [
                "mcp3208.voltage0 V null:warming-up", "mcp3208.voltage1 V null:warming-up",
            ])
        #expect(
            settings() == ["1", "256", "50", "fast", "boottime", "1", "0", "1", "100", "1000"])
        #expect((adc?.descriptor ?? -1) >= 0)
        #expect(adc?.receive(now: Instant(nanoseconds: 9)) == [], "nothing has come")
        let bytes = scan(1_234, 4_095, at: 5_000) + scan(0, 1, at: 6_000)
        write(kernel, bytes, bytes.count)
        let measurements = adc?.receive(now: Instant(nanoseconds: 9_000)) ?? []
        #expect(
            measurements.map(\.text) == [
                "mcp3208.voltage0 V 0.994189", "mcp3208.voltage1 V 3.299194",
                "mcp3208.voltage0 V 0.000000", "mcp3208.voltage1 V 0.000806",
            ])
        #expect(measurements.map(\.time?.nanoseconds) == [5_000, 5_000, 6_000, 6_000])
        #expect(adc?.diagnostic == "2 scans")
        adc = nil
        #expect(settings() == before)
    }

    @Test func aScanThatComesInPiecesIsPutTogether() {
        adc()
        let kernel = kernelEnd()
        defer { close(kernel) }
        let adc = driver()
        _ = adc.sample()
        let bytes = scan(100, 200, at: 50) + scan(300, 400, at: 60)
        write(kernel, Array(bytes[..<10]), 10)
        #expect(adc.receive(now: Instant(nanoseconds: 100)) == [])
        write(kernel, Array(bytes[10...]), 22)
        #expect(adc.receive(now: Instant(nanoseconds: 100)).count == 4)
    }

    @Test func elementsOfOneLabelAreToldApart() {
        adc()
        tree.write(Self.device, ["in_voltage0_label": "tap\n", "in_voltage1_label": "tap\n"])
        let kernel = kernelEnd()
        defer { close(kernel) }
        let adc = IIOBufferDriver(
            device: "mcp3208", channels: ["tap", "tap.2"], trigger: "fast", root: tree.root)
        _ = adc.sample()
        write(kernel, scan(0, 4_095, at: 5), 16)
        #expect(
            adc.receive(now: Instant(nanoseconds: 9)).map(\.text) == [
                "mcp3208.tap V 0.000000", "mcp3208.tap.2 V 3.299194",
            ])
    }

    @Test func aTimeThatCannotBeIsNow() {
        adc()
        let kernel = kernelEnd()
        defer { close(kernel) }
        let adc = driver()
        _ = adc.sample()
        for stamp in [Int64.max, 0, -1, .min] {
            write(kernel, scan(1, 2, at: stamp), 16)
            let times = adc.receive(now: Instant(nanoseconds: 77)).map(\.time?.nanoseconds)
            #expect(times == [77, 77])
        }
    }

    @Test func silenceForAPeriodIsNull() {
        adc()
        let kernel = kernelEnd()
        defer { close(kernel) }
        let adc = driver()
        _ = adc.sample()
        write(kernel, scan(1, 2, at: 1), 16)
        _ = adc.receive(now: Instant(nanoseconds: 2))
        #expect(adc.sample() == [], "what came is enough")
        #expect(
            adc.sample().map(\.text) == [
                "mcp3208.voltage0 V null:timeout", "mcp3208.voltage1 V null:timeout",
            ])
    }

    @Test func aDeviceThatGoesIsNullAndOpenedAgainWhenItIsBack() {
        adc()
        var kernel = kernelEnd()
        let adc = driver()
        _ = adc.sample()
        close(kernel)
        #expect(
            adc.receive(now: .zero).map(\.text) == [
                "mcp3208.voltage0 V null:absent", "mcp3208.voltage1 V null:absent",
            ])
        #expect(adc.descriptor == nil)
        #expect(adc.receive(now: .zero) == [])
        tree.remove(Self.device)
        #expect(
            adc.sample().map(\.text) == [
                "mcp3208.voltage0 V null:absent", "mcp3208.voltage1 V null:absent",
            ])
        #expect(adc.diagnostic == "no device mcp3208; there are none")
        self.adc()
        kernel = kernelEnd()
        defer { close(kernel) }
        #expect(adc.sample().map(\.outcome) == [.null(.warmingUp), .null(.warmingUp)])
        #expect(adc.descriptor != nil)
    }

    /// The kernel says nothing to who waits for scans of a device that is pulled (seen with Linux
    /// 6.1): its node vanishes.
    @Test func aDeviceThatIsPulledWhileNothingComesIsAbsent() {
        adc()
        let kernel = kernelEnd()
        defer { close(kernel) }
        let adc = driver()
        _ = adc.sample()
        #expect(adc.sample().map(\.outcome) == [.null(.timeout), .null(.timeout)])
        unlink(tree.root + "/dev/iio:device0")
        #expect(adc.sample().map(\.outcome) == [.null(.absent), .null(.absent)])
        #expect(adc.descriptor == nil)
        #expect(adc.diagnostic == "the device is gone")
    }

    @Test func theFrequencyIsSetWhereTheDeviceHasIt() {
        adc()
        let kernel = kernelEnd()
        defer { close(kernel) }
        for names in [["sampling_frequency"], ["in_sampling_frequency"], ["in_a", "in_b"]] {
            for name in ["sampling_frequency", "in_sampling_frequency"] {
                tree.remove("\(Self.device)/\(name)")
            }
            let files = names.map { $0.hasSuffix("frequency") ? $0 : $0 + "_sampling_frequency" }
            for file in files { tree.write(Self.device, [file: "100\n"]) }
            var adc: IIOBufferDriver? = driver(trigger: nil, frequency: "50")
            _ = adc?.sample()
            #expect(files.allSatisfy { tree.read("\(Self.device)/\($0)") == "50" })
            adc = nil
            #expect(files.allSatisfy { tree.read("\(Self.device)/\($0)") == "100" })
        }
        for name in ["in_a", "in_b"] { tree.remove("\(Self.device)/\(name)_sampling_frequency") }
        let none = driver(trigger: nil, frequency: "50")
        _ = none.sample()
        #expect(
            none.diagnostic?.hasSuffix("has no sampling_frequency; leave frequency out") == true)
    }

    @Test func whatIsMissingIsToldAndNothingIsLeftChanged() {
        adc()
        let before = settings()
        let kernel = kernelEnd()
        defer { close(kernel) }
        let wrong = driver(trigger: "slow")
        #expect(wrong.sample().map(\.text) == ["mcp3208 1 null:absent"])
        #expect(wrong.diagnostic == "no trigger slow; there are old, fast")
        let element = IIOBufferDriver(device: "0", channels: ["voltage9"], root: tree.root)
        _ = element.sample()
        #expect(
            element.diagnostic == "no scan element voltage9; there are voltage0, voltage1, voltage2"
        )
        tree.write(Self.device, ["scan_elements/in_voltage1_type": "le:s12/128>>4\n"])
        let type = driver()
        #expect(type.sample().map(\.text) == ["mcp3208 1 null:malformed"])
        tree.remove("dev/iio:device0")
        #expect(driver().sample().map(\.text) == ["mcp3208 1 null:absent"])
        #expect(settings() == before)
    }
}
