import NearbyCore

extension Limits {
    /// The longest advertising data there is (Bluetooth Core, Vol 4, Part E, §7.7.65.13).
    static let advertisingDataBytesMax = 1_650
}

/// The parts of advertising data into which sensors put what they measure (Core Specification
/// Supplement, Part A, §1.4 and §1.11).
///
///     length 1 | type 1 | length − 1 bytes; and so on
package enum AdvertisedData: Equatable, Sendable {
    /// Type 0xFF: the company's number, and what it makes of the rest.
    case manufacturer(UInt16, ArraySlice<UInt8>)
    /// Type 0x16: a service's UUID of 16 bits, and its data.
    case service(UInt16, ArraySlice<UInt8>)

    /// In the order in which they come. What is damaged ends the list; what came before it counts.
    package static func parts(of data: [UInt8]) -> [AdvertisedData] {
        var reader = ByteReader(data.prefix(Limits.advertisingDataBytesMax))
        var parts: [AdvertisedData] = []
        // A length of zero ends the significant part.
        while let length = try? reader.readUInt8(), length > 0,
            let structure = try? reader.readBytes(Int(length))
        {
            var fields = FieldReader(structure)
            guard let type = try? fields.unsigned(1), type == 0xff || type == 0x16,
                let number = try? fields.unsigned(2)
            else { continue }
            let key = UInt16(truncatingIfNeeded: number)
            parts.append(
                type == 0xff
                    ? .manufacturer(key, fields.remaining) : .service(key, fields.remaining))
        }
        return parts
    }
}

/// Reads fields from left to right; what is too short is malformed.
struct FieldReader {
    private var bytes: ByteReader

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = ByteReader(bytes) }

    /// Little-endian, 1–7 bytes: Bluetooth's order.
    mutating func unsigned(_ byteCount: Int) throws(AdvertisementFault) -> Int64 {
        var value: Int64 = 0
        for byte in try take(byteCount).reversed() { value = value << 8 | Int64(byte) }
        return value
    }

    mutating func signed(_ byteCount: Int) throws(AdvertisementFault) -> Int64 {
        Self.signed(try unsigned(byteCount), byteCount)
    }

    mutating func bigEndian(_ byteCount: Int) throws(AdvertisementFault) -> Int64 {
        var value: Int64 = 0
        for byte in try take(byteCount) { value = value << 8 | Int64(byte) }
        return value
    }

    mutating func signedBigEndian(_ byteCount: Int) throws(AdvertisementFault) -> Int64 {
        Self.signed(try bigEndian(byteCount), byteCount)
    }

    mutating func take(_ count: Int) throws(AdvertisementFault) -> ArraySlice<UInt8> {
        do {
            return try bytes.readBytes(count)
        } catch {
            throw .malformed
        }
    }

    /// All that has not been read.
    var remaining: ArraySlice<UInt8> {
        var rest = bytes
        return rest.readRemaining()
    }

    var remainingCount: Int { bytes.remainingCount }

    /// Two's complement of so many bytes.
    private static func signed(_ value: Int64, _ byteCount: Int) -> Int64 {
        let bits = Int64(byteCount * 8)
        return value >> (bits - 1) == 1 ? value - 1 << bits : value
    }
}
