import NearbyCore
import Sampling
import Telemetry

/// Industrial I/O: the kernel's drivers for sensors and converters that give physical quantities.
///
/// Devices are looked for at each sample, so that one that appears later is read, and one that is
/// gone is null.
public final class IIODriver: SensorDriver {
    private let root: String
    private let wanted: String?
    private let channels: [String]
    private let scan: DeviceScan

    /// `device` is a name, a label, where it is attached (`1-0076`), or a number; nil: all there
    /// are. `channels`: those of these names, such as `temperature` or `voltage0`; none: all.
    /// `staleAfter` zero: as the part asks for. `root` is where /sys is looked up; tests give
    /// another.
    public init(
        device: String?, channels: [String] = [], staleAfter: Duration = .zero, root: String = "",
        clock: @escaping @Sendable () -> Instant = SensorClock.now
    ) {
        wanted = device
        self.channels = channels
        self.root = root
        scan = DeviceScan(
            .init(word: "iio", noun: "device"), wanted: device, staleAfter: staleAfter,
            clock: clock)
    }

    public var name: String { scan.name }

    public var diagnostic: String? { scan.diagnostic }

    public func sample() -> [Measurement] {
        let devices = Self.devices(below: root).filter { $0.matches(wanted) }
        return scan.settle(devices.map { DeviceReadings(device: $0, values: values(of: $0)) })
    }

    static func devices(below root: String) -> [KernelDevice] {
        KernelDevice.all(in: root + "/sys/bus/iio/devices", prefix: "iio:device")
    }

    private func values(of device: KernelDevice) -> [Measurement] {
        let attributes = SensorFile.names(in: device.folder)
        let folder = IIOFolder(path: device.folder, attributes: Set(attributes))
        return IIOChannel.all(in: attributes).flatMap { channel -> [Measurement] in
            let name = folder.name(of: channel)
            guard channels.isEmpty || channels.contains(name) || channels.contains(channel.name)
            else { return [] }
            return folder.read(channel, named: name)
        }
    }
}

/// The attributes of one IIO device.
struct IIOFolder: Sendable {
    var path: String
    var attributes: Set<String>

    /// The channel's label, otherwise what it measures.
    func name(of channel: IIOChannel) -> String {
        let label = channel.base + "_label"
        guard attributes.contains(label),
            let text = try? SensorFile.attribute("\(path)/\(label)").get()
        else { return channel.name }
        return KernelDevice.plain(text)
    }

    /// Nil if an attribute that is there cannot be read or is no number.
    func conversion(of channel: IIOChannel) -> IIOConversion? {
        if channel.isProcessed { return IIOConversion(channel) }
        guard let offset = number("offset", of: channel), let scale = number("scale", of: channel)
        else { return nil }
        return IIOConversion(channel, offset: offset, scale: scale)
    }

    /// One measurement; four of a quaternion, which the kernel gives as x, y, z and w.
    func read(_ channel: IIOChannel, named name: String) -> [Measurement] {
        let conversion = conversion(of: channel)
        let unit = conversion?.unit ?? IIOQuantity.named(channel.type)?.unit ?? "1"
        let words: [Substring]
        switch SensorFile.attribute("\(path)/\(channel.attribute)") {
        case .failure(let fault): return [Measurement(name, unit, .null(fault.reason))]
        case .success(let text): words = text.split(separator: " ")
        }
        guard let conversion else { return [Measurement(name, unit, .null(.failed))] }
        let axes = words.count == 4 ? [".x", ".y", ".z", ".w"] : [""]
        guard words.count == axes.count else {
            return [Measurement(name, unit, .null(.malformed))]
        }
        return zip(axes, words).map { axis, word in
            Measurement(name + axis, unit, Self.outcome(word, conversion))
        }
    }

    private static func outcome(_ word: Substring, _ conversion: IIOConversion) -> Outcome {
        guard let number = try? DecimalValue(parsing: word) else { return .null(.malformed) }
        return conversion.value(number).map { .value($0) } ?? .null(.outOfRange)
    }

    /// Nil inside: there is no such attribute. Nil outside: it says nothing useful.
    private func number(_ kind: String, of channel: IIOChannel) -> DecimalValue?? {
        guard let name = channel.attributes(kind).first(where: { attributes.contains($0) }) else {
            return .some(nil)
        }
        guard let text = try? SensorFile.attribute("\(path)/\(name)").get(),
            let value = try? DecimalValue(parsing: text)
        else { return nil }
        return value
    }
}
