import NearbyCore
import Sampling
import Telemetry

/// Why a buffer could not be set up: what to tell, and the readings' reason.
struct IIOBufferFault: Error, Equatable {
    var text: String
    var reason: NullReason
}

/// A device's attributes as they were changed for a buffer, to be put back in the end.
struct IIOBufferSetup: Sendable {
    /// What is wanted of a device's buffer.
    struct Wish: Sendable {
        var channels: [String]
        var trigger: String?
        /// Hertz, as the attribute takes it.
        var frequency: String?
        /// Scans that a full buffer has, and that wake the reader.
        var length: Int
        var watermark: Int
    }

    /// One enabled element, by rising index.
    struct Element: Sendable {
        var name: String
        var unit: String
        /// Nil for the time stamp.
        var conversion: IIOConversion?
    }

    private(set) var elements: [Element] = []
    private(set) var layout = IIOScanLayout([])
    private var changed: [(path: String, before: String)] = []
    private let folder: IIOFolder
    private let root: String

    /// Does everything up to `buffer/enable`; what was changed when it throws is put back.
    init(_ device: KernelDevice, _ wish: Wish, root: String) throws(IIOBufferFault) {
        folder = IIOFolder(
            path: device.folder, attributes: Set(SensorFile.names(in: device.folder)))
        self.root = root
        do throws(IIOBufferFault) {
            // A run that was killed left it on; nobody else has it, because the device is ours.
            try change("\(folder.path)/buffer/enable", to: "0")
            try choose(wish.channels)
            try change("\(folder.path)/current_timestamp_clock", to: "boottime", isNeeded: false)
            if let trigger = wish.trigger { try use(trigger) }
            if let frequency = wish.frequency { try set(frequency, trigger: wish.trigger) }
            let buffer = "\(folder.path)/buffer"
            try change("\(buffer)/length", to: "\(wish.length)", isNeeded: false)
            try change("\(buffer)/watermark", to: "\(wish.watermark)", isNeeded: false)
            try change("\(buffer)/enable", to: "1")
        } catch {
            restore()
            throw error
        }
    }

    /// Puts everything back, the last change first.
    mutating func restore() {
        for (path, before) in changed.reversed() { _ = SensorFile.write(path, before) }
        changed = []
    }

    /// Whether the time stamps are those of CLOCK_BOOTTIME.
    var isDated: Bool {
        (try? SensorFile.attribute("\(folder.path)/current_timestamp_clock").get()) == "boottime"
    }

    private mutating func change(
        _ path: String, to text: String, isNeeded: Bool = true
    ) throws(IIOBufferFault) {
        switch SensorFile.attribute(path) {
        case .failure(let fault):
            if isNeeded { throw IIOBufferFault(text: "cannot read \(path)", reason: fault.reason) }
        case .success(let before) where before == text: break
        case .success(let before):
            switch SensorFile.write(path, text) {
            case .success: changed.append((path, before))
            case .failure(let fault):
                guard isNeeded else { return }
                throw IIOBufferFault(
                    text: "\(path) does not take \(text)"
                        + (UnitRefusal.advice(fault.code).map { ": " + $0 } ?? ""),
                    reason: fault.reason)
            }
        }
    }

    /// Enables the wanted elements and the time stamp, and no other.
    private mutating func choose(_ wanted: [String]) throws(IIOBufferFault) {
        let path = "\(folder.path)/scan_elements"
        let bases = SensorFile.names(in: path).filter { $0.hasSuffix("_en") }
            .map { String($0.dropLast(3)) }
        var taken: Set<String> = []
        let found = bases.compactMap {
            base -> (base: String, channel: IIOChannel?, name: String)? in
            if base == "in_timestamp" { return (base, nil, "") }
            guard let channel = IIOChannel(base: base, isProcessed: false) else { return nil }
            return (base, channel, SeenChannels.own(folder.name(of: channel), &taken))
        }
        let names = found.filter { $0.channel != nil }.map(\.name)
        for name in wanted where !names.contains(name) {
            throw IIOBufferFault(
                text: "no scan element \(name); there are \(names.joined(separator: ", "))",
                reason: .absent)
        }
        var chosen: [(index: Int64, element: Element, type: IIOScanType)] = []
        for (base, channel, name) in found {
            let isWanted = channel == nil || wanted.isEmpty || wanted.contains(name)
            try change("\(path)/\(base)_en", to: isWanted ? "1" : "0", isNeeded: isWanted)
            guard isWanted else { continue }
            guard case .success(let text) = SensorFile.attribute("\(path)/\(base)_type"),
                case .success(let index) = SensorFile.integer("\(path)/\(base)_index"),
                let type = IIOScanType(parsing: text)
            else { throw IIOBufferFault(text: "\(path)/\(base) is unknown", reason: .malformed) }
            let conversion = channel.flatMap(folder.conversion)
            let element = Element(name: name, unit: conversion?.unit ?? "1", conversion: conversion)
            chosen.append((index, element, type))
        }
        chosen.sort { $0.index < $1.index }
        guard chosen.contains(where: { !$0.element.name.isEmpty }) else {
            throw IIOBufferFault(text: "\(path) has no elements", reason: .absent)
        }
        guard chosen.count <= Limits.channelsPerSensorMax else {
            throw IIOBufferFault(
                text: "\(path) has \(chosen.count) elements; name those wanted under channels",
                reason: .outOfRange)
        }
        elements = chosen.map(\.element)
        layout = IIOScanLayout(chosen.map(\.type))
    }

    private mutating func use(_ trigger: String) throws(IIOBufferFault) {
        let triggers = Self.triggers(below: root)
        guard triggers.contains(where: { $0.name == trigger }) else {
            let names = triggers.map(\.name).joined(separator: ", ")
            throw IIOBufferFault(
                text: "no trigger \(trigger); there are \(names.isEmpty ? "none" : names)",
                reason: .absent)
        }
        try change("\(folder.path)/trigger/current_trigger", to: trigger)
    }

    /// Of the trigger if that has one, otherwise of the device.
    private mutating func set(
        _ frequency: String, trigger: String?
    ) throws(IIOBufferFault) {
        let place = Self.triggers(below: root).first { $0.name == trigger }?.folder
        let names = ["sampling_frequency", "in_sampling_frequency", "buffer/sampling_frequency"]
        let paths =
            (place.map { ["\($0)/sampling_frequency"] } ?? [])
            + names.map { "\(folder.path)/\($0)" }
        if let path = paths.first(where: { (try? SensorFile.attribute($0).get()) != nil }) {
            return try change(path, to: frequency)
        }
        // One for each kind of channel.
        let kinds = folder.attributes.filter { $0.hasSuffix("_sampling_frequency") }.sorted()
        guard !kinds.isEmpty else {
            throw IIOBufferFault(
                text: "\(folder.path) has no sampling_frequency; leave frequency out",
                reason: .absent)
        }
        for name in kinds { try change("\(folder.path)/\(name)", to: frequency) }
    }

    private static func triggers(below root: String) -> [KernelDevice] {
        KernelDevice.all(in: root + "/sys/bus/iio/devices", prefix: "trigger")
    }
}
