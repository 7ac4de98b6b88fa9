import NearbyCore

/// The first frame in each direction of a new channel: who am I, and proof that I may be here.
///
///     kind 0x10 (1) | lowest version (1) | highest version (1) | role and preference (1) | flags (1)
///     | neighbours (1) | run id (8) | proof (32) | name (counted, ≤ 63)
///     | [software (counted, ≤ 31)] | later fields, skipped
///
/// Role in the high four bits, preference in the low four. Flag bit 0: has a route to a collector;
/// bit 1: a way over the receiver would be far cheaper than its own.
/// The proof is HMAC-SHA-256 with the admission key over role ‖ exporter ‖ client ‖ server.
/// Software is the version of the sender's program, for people; who does not say it is not refused.
public struct AdmitFrame: Equatable, Sendable {
    public var versions: ClosedRange<UInt8>
    public var role: Role
    public var preference: EncryptionPreference
    public var hasRoute: Bool
    /// It would take a far cheaper way to a collector over the other side, which may be full.
    public var seeksShortcut: Bool
    /// How many neighbours it has, at most 255.
    public var neighbourCount: UInt8
    public var run: RunID
    /// 32 bytes.
    public var proof: [UInt8]
    public var name: String
    /// Printable ASCII, at most 31 bytes; empty: not said.
    public var software: String

    public static let proofByteCount = 32
    static let softwareByteCountMax = 31

    public init(
        versions: ClosedRange<UInt8>, role: Role, preference: EncryptionPreference, hasRoute: Bool,
        seeksShortcut: Bool = false, neighbourCount: UInt8, run: RunID, proof: [UInt8],
        name: String, software: String = ""
    ) {
        self.versions = versions
        self.role = role
        self.preference = preference
        self.hasRoute = hasRoute
        self.seeksShortcut = seeksShortcut
        self.neighbourCount = neighbourCount
        self.run = run
        self.proof = proof
        self.name = name
        self.software = software
    }

    /// Reads the body behind the kind.
    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        let lowest = try reader.readUInt8()
        let highest = try reader.readUInt8()
        guard lowest <= highest, lowest > 0 else { throw .invalid(field: "version range") }
        versions = lowest...highest
        let kinds = try reader.readUInt8()
        guard let role = Role(rawValue: kinds >> 4) else { throw .invalid(field: "role") }
        guard let preference = EncryptionPreference(rawValue: kinds & 0xf) else {
            throw .invalid(field: "preference")
        }
        self.role = role
        self.preference = preference
        let flags = try reader.readUInt8()
        hasRoute = flags & 1 != 0
        seeksShortcut = flags & 2 != 0
        neighbourCount = try reader.readUInt8()
        run = RunID(value: try reader.readUInt64())
        proof = Array(try reader.readBytes(Self.proofByteCount))
        name = try reader.readString(limit: Limits.displayNameBytes.upperBound, field: "name")
        software = Self.readSoftware(&reader)
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 120)
        writer.write(FrameKind.admit.rawValue)
        writer.write(versions.lowerBound)
        writer.write(versions.upperBound)
        writer.write(role.rawValue << 4 | preference.rawValue)
        writer.write((hasRoute ? 1 : 0) | (seeksShortcut ? 2 : 0) as UInt8)
        writer.write(neighbourCount)
        writer.write(run.value)
        writer.write(contentsOf: proof)
        writer.writeString(name)
        if !software.isEmpty { writer.writeString(software) }
        return writer.bytes
    }

    /// Empty where it is missing or is no version: nobody is refused for that.
    private static func readSoftware(_ reader: inout ByteReader) -> String {
        guard reader.remainingCount > 0,
            let text = try? reader.readString(limit: softwareByteCountMax, field: "software"),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return "" }
        return text
    }
}
