import NearbyCore

/// What the management interface says, as far as we listen (BlueZ doc/mgmt-api.txt).
///
///     event 2 | index of the controller 2 | length 2 | parameters
struct ManagementEvent: Equatable, Sendable {
    enum Body: Equatable, Sendable {
        case completed(ManagementCommand.Code, Reply)
        case failed(ManagementCommand.Code, ManagementStatus)
        case indexAdded
        case indexRemoved
        case newSettings(ControllerSettings)
        case found(BluetoothAddress, rssi: Int8, data: [UInt8])
        case discovering(Bool)
        case advertisingAdded(instance: UInt8)
        case advertisingRemoved(instance: UInt8)
        case monitorRemoved(handle: UInt16)
        /// The machine was asleep.
        case resumed
        /// An event or an answer that we have no use for.
        case other(UInt16)
    }

    /// What an answer to a command carries.
    enum Reply: Equatable, Sendable {
        case nothing
        case indices([UInt16])
        case information(ControllerInformation)
        case settings(ControllerSettings)
        /// Instances are numbered from 1.
        case advertisingFeatures(instancesMax: UInt8)
        case monitor(handle: UInt16)
    }

    /// The controller's number; nil where none is meant.
    var index: UInt16?
    var body: Body

    init(index: UInt16?, body: Body) {
        self.index = index
        self.body = body
    }

    /// One message of the socket. Further bytes than the length says are refused, as are fewer.
    init(parsing bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let event = try reader.readLittleEndian16()
        let number = try reader.readLittleEndian16()
        let length = Int(try reader.readLittleEndian16())
        guard length == reader.remainingCount else {
            throw length > reader.remainingCount
                ? .truncated(needed: length, available: reader.remainingCount)
                : .trailing(count: reader.remainingCount - length)
        }
        index = number == ManagementCommand.noController ? nil : number
        body = try Self.body(event, &reader)
    }

    private static func body(_ event: UInt16, _ reader: inout ByteReader) throws(WireError) -> Body
    {
        switch event {
        case 0x0001:
            let code = try reader.readLittleEndian16()
            let status = ManagementStatus(rawValue: try reader.readUInt8())
            guard let command = ManagementCommand.Code(rawValue: code) else { return .other(event) }
            guard status == .success else { return .failed(command, status) }
            return .completed(command, try reply(to: command, &reader))
        case 0x0002:
            let code = try reader.readLittleEndian16()
            let status = ManagementStatus(rawValue: try reader.readUInt8())
            guard let command = ManagementCommand.Code(rawValue: code) else { return .other(event) }
            return .failed(command, status)
        case 0x0004: return .indexAdded
        case 0x0005: return .indexRemoved
        case 0x0006:
            return .newSettings(ControllerSettings(rawValue: try reader.readLittleEndian32()))
        case 0x0012: return try found(&reader)
        case 0x0013:
            _ = try reader.readUInt8()  // address types
            return .discovering(try reader.readUInt8() != 0)
        case 0x0023: return .advertisingAdded(instance: try reader.readUInt8())
        case 0x0024: return .advertisingRemoved(instance: try reader.readUInt8())
        case 0x002c: return .monitorRemoved(handle: try reader.readLittleEndian16())
        case 0x002e: return .resumed
        case 0x002f:
            _ = try reader.readLittleEndian16()  // handle, or 0
            return try found(&reader)
        default: return .other(event)
        }
    }

    /// address 7 | RSSI 1 | flags 4 | length 2 | advertising data
    private static func found(_ reader: inout ByteReader) throws(WireError) -> Body {
        let address = try reader.readBluetoothAddress()
        let rssi = Int8(bitPattern: try reader.readUInt8())
        _ = try reader.readLittleEndian32()
        let length = Int(try reader.readLittleEndian16())
        return .found(address, rssi: rssi, data: Array(try reader.readBytes(length)))
    }

    private static func reply(
        to command: ManagementCommand.Code, _ reader: inout ByteReader
    ) throws(WireError) -> Reply {
        switch command {
        case .readIndexList:
            let count = Int(try reader.readLittleEndian16())
            var list = ByteReader(try reader.readBytes(count * 2))
            var indices: [UInt16] = []
            while list.remainingCount > 0 { indices.append(try list.readLittleEndian16()) }
            return .indices(indices)
        case .readInformation: return .information(try ControllerInformation(parsing: &reader))
        case .setPowered, .setLowEnergy, .setConnectable:
            return .settings(ControllerSettings(rawValue: try reader.readLittleEndian32()))
        case .readAdvertisingFeatures:
            _ = try reader.readBytes(6)  // flags, sizes
            return .advertisingFeatures(instancesMax: try reader.readUInt8())
        case .addMonitor: return .monitor(handle: try reader.readLittleEndian16())
        case .addAdvertising, .removeAdvertising, .startDiscovery, .stopDiscovery, .removeMonitor:
            return .nothing
        }
    }
}

/// How a command ended.
struct ManagementStatus: RawRepresentable, Equatable, Sendable, CustomStringConvertible {
    let rawValue: UInt8

    init(rawValue: UInt8) { self.rawValue = rawValue }

    static let success = ManagementStatus(rawValue: 0x00)
    static let unknownCommand = ManagementStatus(rawValue: 0x01)
    static let failed = ManagementStatus(rawValue: 0x03)
    static let noResources = ManagementStatus(rawValue: 0x07)
    static let busy = ManagementStatus(rawValue: 0x0a)
    static let rejected = ManagementStatus(rawValue: 0x0b)
    static let notSupported = ManagementStatus(rawValue: 0x0c)
    static let invalidParameters = ManagementStatus(rawValue: 0x0d)
    static let notPowered = ManagementStatus(rawValue: 0x0f)
    static let invalidIndex = ManagementStatus(rawValue: 0x11)
    static let rfkilled = ManagementStatus(rawValue: 0x12)
    static let permissionDenied = ManagementStatus(rawValue: 0x14)

    var description: String {
        switch self {
        case .success: "success"
        case .unknownCommand: "unknown command"
        case .failed: "failed"
        case .noResources: "no room for it"
        case .busy: "busy"
        case .rejected: "rejected"
        case .notSupported: "not supported"
        case .invalidParameters: "invalid parameters"
        case .notPowered: "not powered"
        case .invalidIndex: "no such controller"
        case .rfkilled: "blocked by rfkill"
        case .permissionDenied: "permission denied"
        default: "status \(rawValue)"
        }
    }
}

/// What a controller can do, or does.
struct ControllerSettings: OptionSet, Equatable, Sendable {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    static let powered = ControllerSettings(rawValue: 1)
    static let connectable = ControllerSettings(rawValue: 1 << 1)
    static let classic = ControllerSettings(rawValue: 1 << 7)
    static let lowEnergy = ControllerSettings(rawValue: 1 << 9)
}

/// The answer to `readInformation`; the class of device and the names that follow are left out.
struct ControllerInformation: Equatable, Sendable {
    /// Zero on controllers without an address.
    var address: UInt64
    var supported: ControllerSettings
    var current: ControllerSettings

    init(address: UInt64, supported: ControllerSettings, current: ControllerSettings) {
        self.address = address
        self.supported = supported
        self.current = current
    }

    init(parsing reader: inout ByteReader) throws(WireError) {
        address = try reader.readLittleEndian(byteCount: 6)
        _ = try reader.readBytes(3)  // version, manufacturer
        supported = ControllerSettings(rawValue: try reader.readLittleEndian32())
        current = ControllerSettings(rawValue: try reader.readLittleEndian32())
    }
}
