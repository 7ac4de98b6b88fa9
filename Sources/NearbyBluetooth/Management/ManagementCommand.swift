import NearbyCore

/// A command of the kernel's Bluetooth management interface, as far as we use it (BlueZ
/// doc/mgmt-api.txt). Integers are little-endian.
///
///     opcode 2 | index of the controller 2, 0xffff for none | length 2 | parameters
enum ManagementCommand: Equatable, Sendable {
    case readIndexList
    case readInformation
    case setPowered(Bool)
    case setLowEnergy(Bool)
    case setConnectable(Bool)
    case readAdvertisingFeatures
    /// Connectable, for as long as the controller is on. An instance of this number is replaced.
    case addAdvertising(instance: UInt8, data: [UInt8])
    case removeAdvertising(instance: UInt8)
    /// Active scan for LE devices; the kernel ends it by itself after 10.24 s.
    case startDiscovery
    case stopDiscovery
    /// Passive scan for advertising data with one of these, at most 16.
    case addMonitor([AdvertisementPattern])
    /// 0: all of them, whoever set them.
    case removeMonitor(handle: UInt16)

    var code: Code {
        switch self {
        case .readIndexList: .readIndexList
        case .readInformation: .readInformation
        case .setPowered: .setPowered
        case .setLowEnergy: .setLowEnergy
        case .setConnectable: .setConnectable
        case .readAdvertisingFeatures: .readAdvertisingFeatures
        case .addAdvertising: .addAdvertising
        case .removeAdvertising: .removeAdvertising
        case .startDiscovery: .startDiscovery
        case .stopDiscovery: .stopDiscovery
        case .addMonitor: .addMonitor
        case .removeMonitor: .removeMonitor
        }
    }

    /// The message for the socket; `index` is the controller's number, nil for none.
    func bytes(for index: UInt16?) -> [UInt8] {
        var parameters = ByteWriter()
        switch self {
        case .readIndexList, .readInformation, .readAdvertisingFeatures: break
        case .setPowered(let flag), .setLowEnergy(let flag), .setConnectable(let flag):
            parameters.write(UInt8(flag ? 1 : 0))
        case .addAdvertising(let instance, let data):
            parameters.write(instance)
            parameters.writeLittleEndian(UInt64(Self.connectable), byteCount: 4)
            parameters.writeLittleEndian(0, byteCount: 2)  // duration: the kernel's
            parameters.writeLittleEndian(0, byteCount: 2)  // timeout: none
            parameters.write(UInt8(clamping: data.count))
            parameters.write(UInt8(0))  // scan response
            parameters.write(contentsOf: data)
        case .removeAdvertising(let instance): parameters.write(instance)
        case .startDiscovery, .stopDiscovery: parameters.write(Self.lowEnergyTypes)
        case .addMonitor(let patterns):
            parameters.write(UInt8(clamping: patterns.count))
            for pattern in patterns {
                let value = pattern.beginning.prefix(Self.patternBytesMax)
                parameters.write(pattern.type)
                parameters.write(UInt8(0))  // offset
                parameters.write(UInt8(value.count))
                parameters.write(contentsOf: value)
                parameters.write(
                    contentsOf: [UInt8](repeating: 0, count: Self.patternBytesMax - value.count))
            }
        case .removeMonitor(let handle): parameters.writeLittleEndian(UInt64(handle), byteCount: 2)
        }
        var writer = ByteWriter(reserving: 6 + parameters.count)
        writer.writeLittleEndian(UInt64(code.rawValue), byteCount: 2)
        writer.writeLittleEndian(UInt64(index ?? Self.noController), byteCount: 2)
        writer.writeLittleEndian(UInt64(parameters.count), byteCount: 2)
        writer.write(contentsOf: parameters.bytes)
        return writer.bytes
    }

    /// Bits for and random LE addresses.
    static let lowEnergyTypes: UInt8 = 0b110
    static let noController: UInt16 = 0xffff
    private static let connectable: UInt32 = 1
    private static let patternBytesMax = 31
}

extension ManagementCommand {
    enum Code: UInt16, Sendable, CaseIterable {
        case readIndexList = 0x0003
        case readInformation = 0x0004
        case setPowered = 0x0005
        case setConnectable = 0x0007
        case setLowEnergy = 0x000d
        case startDiscovery = 0x0023
        case stopDiscovery = 0x0024
        case readAdvertisingFeatures = 0x003d
        case addAdvertising = 0x003e
        case removeAdvertising = 0x003f
        case addMonitor = 0x0052
        case removeMonitor = 0x0053
    }
}
