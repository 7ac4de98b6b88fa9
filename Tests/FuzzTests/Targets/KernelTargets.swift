import Glibc
import NearbyCore
import Synchronization
import Telemetry

@testable import Boards
@testable import Configuration
@testable import Sensors

extension FuzzTarget {
    /// Texts of the kernel.
    static let kernel: [FuzzTarget] = [
        FuzzTarget("one-wire") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let pad = OneWireScratchpad(parsing: text) else { return }
            precondition(pad.bytes.count == 9, "\(pad.bytes.count) bytes")
            _ = (pad.provesConversion, pad.isBrokenConversion)
        },
        FuzzTarget("iio-scan") { scan($0) },
        FuzzTarget("iio-value") { value($0) },
        FuzzTarget(
            "sysfs",
            oneOf: [
                { sample($0, in: "sys/bus/iio/devices") { IIODriver(device: nil, root: $0) } },
                { sample($0, in: "sys/class/hwmon") { HwmonDriver(device: nil, root: $0) } },
                { sample($0, in: "sys/class/thermal") { ThermalDriver(zone: nil, root: $0) } },
                { sample($0, in: "sys/class/power_supply") { PowerDriver(supply: nil, root: $0) } },
                { sample($0, in: "sys/bus/w1/devices") { OneWireDriver(root: $0) } },
                { buffer($0) },
            ]),
        FuzzTarget("procfs") { bytes in
            sample(bytes[...], in: "") { SystemDriver(disks: [], root: $0) }
        },
        FuzzTarget("machine") { machine($0) },
    ]

    private static func parts(_ bytes: ArraySlice<UInt8>, most: Int = 64) -> [ArraySlice<UInt8>] {
        Array(bytes.split(separator: 0, omittingEmptySubsequences: false).prefix(most))
    }

    // MARK: Numbers

    /// The types of a scan's elements, a line each, a zero, the scan.
    private static func scan(_ bytes: [UInt8]) {
        let halves = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard let text = halves.first else { return }
        let types = String(decoding: text, as: UTF8.self).split(separator: "\n").prefix(128)
            .compactMap { IIOScanType(parsing: String($0)) }
        let layout = IIOScanLayout(types)
        for type in types {
            precondition(
                type.bits + type.shift <= type.storageBits && type.storageBits <= 64, "\(type)")
        }
        let data = halves.count > 1 ? halves[1] : []
        for (values, element) in zip(layout.values(data), layout.elements) {
            let type = element.type
            precondition(
                element.offset + type.byteCount <= layout.byteCount, "outside of the scan")
            precondition(values.count == type.repeats, "\(values.count) of \(type)")
            for case let value? in values where type.bits < 64 {
                let half = Int64(1) << (type.bits - 1)
                let range: ClosedRange<Int64> =
                    type.isSigned ? -half...(half - 1) : 0...(half - 1 + half)
                precondition(range.contains(value), "\(value) of \(type)")
            }
        }
    }

    /// Lines: attribute, offset, scale, raw value. The result is what the formula says.
    private static func value(_ bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, let channel = IIOChannel(attribute: String(lines[0])),
            let raw = try? DecimalValue(parsing: lines[3])
        else { return }
        let offset = try? DecimalValue(parsing: lines[1])
        let scale = try? DecimalValue(parsing: lines[2])
        _ = (channel.name, channel.attributes("scale"))
        guard let conversion = IIOConversion(channel, offset: offset, scale: scale),
            let value = conversion.value(raw)
        else { return }
        let (first, second) = (real(raw), real(conversion.offset))
        let expected = (first + second) * real(conversion.scale)
        let rounding = pow(10, Double(max(conversion.lastPlace, Int(value.exponent))))
        let noise = (abs(first) + abs(second)) * abs(real(conversion.scale)) * 1e-12
        precondition(
            abs(real(value) - expected) <= rounding + noise || !expected.isFinite,
            "\(value) is not \(expected)")
    }

    private static func real(_ value: DecimalValue) -> Double {
        Double(value.coefficient) * pow(10, Double(value.exponent))
    }

    // MARK: Files

    /// The parts are files (`FileTree.add`); an empty one: they are read, and what comes then is
    /// there the next time, four times at most.
    private static func sample(
        _ bytes: ArraySlice<UInt8>, in folder: String,
        _ makeDriver: (String) -> any SensorDriver
    ) {
        let tree = FileTree()
        let driver = makeDriver(tree.root)
        var isRead = false
        var count = 0
        for part in parts(bytes) where !part.isEmpty || count < 3 {
            isRead = part.isEmpty
            count += isRead ? 1 : 0
            if isRead { look(driver) } else { tree.add(part, in: folder) }
        }
        if !isRead { look(driver) }
        _ = driver.diagnostic
    }

    /// One measurement of each channel.
    private static func look(_ driver: any SensorDriver) {
        let measurements = driver.sample()
        check(measurements)
        let names = Set(measurements.map(\.channel))
        precondition(
            names.count == measurements.count || driver is SystemDriver, "a channel comes twice")
    }

    /// The same of a device with a buffer, whose scans are the file `scans`.
    private static func buffer(_ bytes: ArraySlice<UInt8>) {
        let tree = FileTree()
        let scans = Array("scans=".utf8)
        tree.add(Array("dev/iio:device0=".utf8)[...], in: "")
        for part in parts(bytes) where !part.isEmpty {
            if part.starts(with: scans) {
                tree.add(Array("iio:device0=".utf8) + part.dropFirst(scans.count), in: "dev")
            } else {
                tree.add(part, in: "sys/bus/iio/devices")
            }
        }
        let driver = IIOBufferDriver(
            device: "iio:device0", trigger: bytes.count % 2 == 0 ? nil : "fast",
            frequency: bytes.count % 4 < 2 ? nil : "100", root: tree.root)
        check(driver.sample())
        let now = Instant(nanoseconds: 1 << 60)
        while driver.descriptor != nil {
            check(driver.receive(now: now), most: .max, until: now)
        }
        check(driver.sample())
        _ = driver.diagnostic
    }

    /// What is told of a machine, by the files of boards in its folder `boards`; what is proposed
    /// is a configuration.
    private static func machine(_ bytes: [UInt8]) {
        let tree = FileTree()
        for part in parts(bytes[...]) where !part.isEmpty { tree.add(part, in: "") }
        let library = BoardLibrary(folders: [tree.root + "/boards"])
        let answer = library.board(of: MachineIdentity(root: tree.root))
        if let board = answer.board {
            _ = BoardReport(board, file: answer.file ?? "", root: tree.root).text
        }
        _ = UnknownBoardReport(MachineIdentity(root: tree.root), library, root: tree.root).text
        _ = BoardPins(library: library, root: tree.root).place(of: "G2")
        let drivers = ["system", "iio", "hwmon", "thermal", "w1", "power", "gpio", "serial", "ble"]
        let text = "trust: any\n" + AttachedSensors(root: tree.root).yaml(drivers: drivers)
        if proposals.withLock({ $0.contains(text) }) { return }
        if case .bad(let mistakes) = Settings.decode(Array(text.utf8), file: "found.yaml") {
            preconditionFailure("\(mistakes.first?.description ?? "?") in\n\(text)")
        }
        proposals.withLock { known in
            if known.count == 1_024 { known = [] }
            known.insert(text)
        }
    }

    /// What was proposed before, and is good: most machines are alike.
    private static let proposals = Mutex<Set<String>>([])
}
