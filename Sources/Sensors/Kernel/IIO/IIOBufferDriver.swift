import Glibc
import NearbyCore
import Sampling
import Synchronization
import Telemetry

extension Limits {
    /// Scans of an IIO buffer that are taken in one pass of the loop.
    static let iioScansPerPass = 64
    /// Scans that the kernel keeps for us.
    static let iioScansBuffered = 256
}

/// A fast converter, read through its buffer: the kernel takes a scan of all channels at each event
/// of a trigger, with the time at which it was taken.
///
/// What is set in sysfs for it is put back when it is closed. A scan that finds the kernel's buffer
/// full is lost there. Scans are given as they come: neither ranges nor frozen values are looked
/// for.
public final class IIOBufferDriver: EventDriver {
    public let name: String
    private let device: String
    private let wish: IIOBufferSetup.Wish
    private let root: String
    private let state = Mutex(State())

    private struct Open {
        var file: Int32
        var setup: IIOBufferSetup
        var prefix: String
        var isDated: Bool
        /// The beginning of a scan of which the rest has not come.
        var rest: [UInt8] = []
        var hasNews = false
    }

    private struct State {
        var open: Open?
        var fault: IIOBufferFault?
        var scanCount = 0
        var seen = SeenChannels()
    }

    /// `device` as for `IIODriver`; `trigger` is the name of one that is there, nil where the
    /// device needs none or has its own; `frequency` in hertz, as sysfs takes it.
    public init(
        device: String, channels: [String] = [], trigger: String? = nil,
        frequency: String? = nil, root: String = ""
    ) {
        name = "iio buffer \(device)"
        self.device = device
        self.root = root
        let hertz = frequency.flatMap { Double($0) } ?? 0
        wish = IIOBufferSetup.Wish(
            channels: channels, trigger: trigger, frequency: frequency,
            length: Limits.iioScansBuffered,
            // Twenty times a second is soon enough to be told of a fast signal.
            watermark: hertz > 20
                ? min(Limits.iioScansPerPass, Int(min(hertz, 10_000) / 20)) : 1)
    }

    deinit { state.withLock { Self.close(&$0) } }

    public var descriptor: Int32? { state.withLock { $0.open?.file } }

    public var diagnostic: String? {
        state.withLock { state in
            state.fault?.text ?? (state.open == nil ? nil : "\(state.scanCount) scans")
        }
    }

    /// Opens what is not open. An open device from which nothing came since the last time is null.
    public func sample() -> [Measurement] {
        let ofOpen = state.withLock { state -> [Measurement]? in
            guard let open = state.open else { return nil }
            state.open?.hasNews = false
            if open.hasNews { return [] }
            // Of a device that was pulled the kernel says nothing to those who wait for scans.
            guard Self.isThere(open.file) else { return Self.gone(&state, .absent) }
            return Self.nulls(open, .timeout)
        }
        if let ofOpen { return ofOpen }
        // Setting up may block; nothing waits for the lock meanwhile.
        let result = Result { () throws(IIOBufferFault) in try start() }
        return state.withLock { state in
            switch result {
            case .success(let open):
                (state.open, state.fault) = (open, nil)
                // What was known of an earlier opening, and is no more.
                return state.seen.completing(Self.nulls(open, .warmingUp))
            case .failure(let fault):
                state.fault = fault
                let known = state.seen.completing([]).map {
                    Measurement($0.channel, $0.unit, .null(fault.reason))
                }
                let none = Measurement(KernelDevice.plain(device), "1", .null(fault.reason))
                return known.isEmpty ? [none] : known
            }
        }
    }

    public func receive(now: Instant) -> [Measurement] {
        state.withLock { state in
            guard var open = state.open else { return [] }
            let scan = open.setup.layout.byteCount
            var buffer = [UInt8](repeating: 0, count: scan * Limits.iioScansPerPass)
            let count = read(open.file, &buffer, buffer.count)
            if count < 0, errno == EAGAIN || errno == EINTR { return [] }
            guard count > 0 else {
                return Self.gone(&state, SensorFile.fault(count == 0 ? ENODEV : errno).reason)
            }
            let bytes = open.rest + buffer[..<count]
            let scans = bytes.count / scan
            var measurements: [Measurement] = []
            for index in 0..<scans {
                measurements += Self.measurements(
                    bytes[index * scan..<(index + 1) * scan], open, now)
            }
            open.rest = Array(bytes[(scans * scan)...])
            open.hasNews = open.hasNews || scans > 0
            state.scanCount &+= scans
            state.open = open
            return measurements
        }
    }

    // MARK: Parts

    private func start() throws(IIOBufferFault) -> Open {
        let devices = IIODriver.devices(below: root)
        guard let found = devices.first(where: { $0.matches(device) }) else {
            let names = devices.map(\.name).joined(separator: ", ")
            throw IIOBufferFault(
                text: "no device \(device); there are \(names.isEmpty ? "none" : names)",
                reason: .absent)
        }
        // First: only one process can have it open, so nothing is changed under another.
        let path = "\(root)/dev/\(found.entry)"
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            let code = errno
            let text =
                code == EBUSY
                ? "\(path) is held by another program"
                : "cannot open \(path): \(UnitRefusal.message(code))"
            throw IIOBufferFault(text: text, reason: SensorFile.fault(code).reason)
        }
        do throws(IIOBufferFault) {
            let setup = try IIOBufferSetup(found, wish, root: root)
            return Open(
                file: file, setup: setup, prefix: found.label ?? found.name,
                isDated: setup.isDated)
        } catch {
            Glibc.close(file)
            throw error
        }
    }

    private static func close(_ state: inout State) {
        guard var open = state.open else { return }
        open.setup.restore()
        Glibc.close(open.file)
        state.open = nil
    }

    /// A device's node vanishes with it.
    private static func isThere(_ file: Int32) -> Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_nlink > 0
    }

    private static func gone(_ state: inout State, _ reason: NullReason) -> [Measurement] {
        guard let open = state.open else { return [] }
        state.fault = IIOBufferFault(text: "the device is gone", reason: reason)
        close(&state)
        return nulls(open, reason)
    }

    private static func nulls(_ open: Open, _ reason: NullReason) -> [Measurement] {
        let elements = zip(open.setup.elements, open.setup.layout.elements)
        return elements.flatMap { element, place in
            element.name.isEmpty
                ? []
                : axes(place.type).map { axis in
                    Measurement(
                        DeviceRoster.joined(open.prefix, element.name + axis), element.unit,
                        .null(reason))
                }
        }
    }

    /// What follows the name of an element of several numbers.
    private static func axes(_ type: IIOScanType) -> [String] {
        switch type.repeats {
        case 1: [""]
        case 4: [".x", ".y", ".z", ".w"]
        default: (0..<type.repeats).map { ".\($0)" }
        }
    }

    /// One scan, dated by its time stamp.
    private static func measurements(
        _ bytes: ArraySlice<UInt8>, _ open: Open, _ now: Instant
    ) -> [Measurement] {
        let setup = open.setup
        let values = setup.layout.values(bytes)
        var time = now
        if open.isDated, let index = setup.elements.firstIndex(where: { $0.name.isEmpty }),
            let stamp = values[index].first ?? nil, stamp > 0, stamp <= now.nanoseconds
        {
            time = Instant(nanoseconds: stamp)
        }
        return setup.elements.indices.flatMap { index -> [Measurement] in
            let element = setup.elements[index]
            guard !element.name.isEmpty else { return [] }
            return zip(axes(setup.layout.elements[index].type), values[index]).map { axis, raw in
                let outcome =
                    raw.flatMap { element.conversion?.value(DecimalValue(coefficient: $0)) }
                    .map { Outcome.value($0) } ?? .null(.outOfRange)
                return Measurement(
                    DeviceRoster.joined(open.prefix, element.name + axis), element.unit, outcome,
                    at: time)
            }
        }
    }
}
