import NearbyCore

/// What a node wants of encryption, with MultipeerConnectivity's words.
public enum EncryptionPreference: UInt8, CaseIterable, Sendable {
    case none = 0
    case optional = 1
    case required = 2

    /// Whether two preferences go together, and if so, whether the channel is encrypted; nil: they
    /// refuse each other. none + required refuse; none + optional is readable; all else is
    /// encrypted.
    public static func agreed(_ left: EncryptionPreference, _ right: EncryptionPreference) -> Bool?
    {
        switch (left, right) {
        case (.none, .required), (.required, .none): nil
        case (.none, _), (_, .none): false
        default: true
        }
    }
}

/// The version of this wire protocol; a node speaks a range, N talks to N−1.
public enum WireVersion {
    public static let spoken: ClosedRange<UInt8> = 1...1

    /// The highest version that both ranges hold.
    public static func agreed(_ left: ClosedRange<UInt8>, _ right: ClosedRange<UInt8>) -> UInt8? {
        let highest = min(left.upperBound, right.upperBound)
        return highest >= max(left.lowerBound, right.lowerBound) ? highest : nil
    }
}

/// The first frame in each direction of a new channel: who am I, and proof that I may be here.
///
///     kind 0x10 (1) | lowest version (1) | highest version (1) | role and preference (1) | flags (1)
///     | neighbours (1) | run id (8) | proof (32) | name (counted, ≤ 63)
///     | [software (counted, ≤ 31)] | later fields, skipped
///
/// Role in the high four bits, preference in the low four. Flag bit 0: has a route to a collector.
/// The proof is HMAC-SHA-256 with the admission key over role ‖ exporter ‖ client ‖ server.
/// Software is the version of the sender's program, for people; who does not say it is not refused.
public struct AdmitFrame: Hashable, Sendable {
    public var versions: ClosedRange<UInt8>
    public var role: Role
    public var preference: EncryptionPreference
    public var hasRoute: Bool
    /// How many neighbours it has, at most 255.
    public var neighbourCount: UInt8
    public var run: RunID
    /// 32 bytes.
    public var proof: [UInt8]
    public var name: String
    /// Printable ASCII, at most 31 bytes; empty: not said.
    public var software: String

    public static let proofByteCount = 32
    public static let softwareByteCountMax = 31

    public init(
        versions: ClosedRange<UInt8>, role: Role, preference: EncryptionPreference, hasRoute: Bool,
        neighbourCount: UInt8, run: RunID, proof: [UInt8], name: String, software: String = ""
    ) {
        self.versions = versions
        self.role = role
        self.preference = preference
        self.hasRoute = hasRoute
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
        hasRoute = try reader.readUInt8() & 1 != 0
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
        writer.write(hasRoute ? 1 : 0 as UInt8)
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

/// Asks to be taken into the session, once both sides are admitted.
///
///     kind 0x11 (1) | timeout in milliseconds (varint) | context (counted, ≤ 512) | later fields, skipped
public struct InviteFrame: Hashable, Sendable {
    /// How long the inviter waits; 1 ms to an hour.
    public var timeout: Duration
    public var context: [UInt8]

    public static let contextByteCountMax = 512

    public init(timeout: Duration, context: [UInt8]) {
        self.timeout = timeout
        self.context = context
    }

    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        let milliseconds = try reader.readVarint()
        guard (1...3_600_000).contains(milliseconds) else { throw .invalid(field: "timeout") }
        timeout = .milliseconds(Int64(milliseconds))
        context = Array(try reader.readCountedBytes(limit: Self.contextByteCountMax))
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: context.count + 8)
        writer.write(FrameKind.invite.rawValue)
        writer.writeVarint(UInt64(clamping: timeout.milliseconds))
        writer.writeCounted(context)
        return writer.bytes
    }
}

/// The answer to an invitation.
///
///     kind 0x12 (1) | verdict (1) | retry after, seconds (varint) | later fields, skipped
public struct DecisionFrame: Hashable, Sendable {
    public enum Verdict: UInt8, CaseIterable, Sendable {
        case accepted = 0
        /// No place for another neighbour; come back after the given time.
        case full = 1
        /// The invitation's handler said no.
        case declined = 2
    }

    public var verdict: Verdict
    /// At most a day.
    public var retryAfter: Duration

    public init(verdict: Verdict, retryAfter: Duration) {
        self.verdict = verdict
        self.retryAfter = retryAfter
    }

    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        guard let verdict = Verdict(rawValue: try reader.readUInt8()) else {
            throw .invalid(field: "verdict")
        }
        let seconds = try reader.readVarint()
        guard seconds <= 86_400 else { throw .invalid(field: "retry time") }
        self.verdict = verdict
        retryAfter = .seconds(Int64(seconds))
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 4)
        writer.write(FrameKind.decision.rawValue)
        writer.write(verdict.rawValue)
        writer.writeVarint(UInt64(clamping: (retryAfter.milliseconds + 999) / 1_000))
        return writer.bytes
    }
}

/// The last frame of a channel; not acknowledged.
///
///     kind 0x13 (1) | reason (1) | later fields, skipped
public struct CloseFrame: Hashable, Sendable {
    public enum Reason: UInt8, CaseIterable, Sendable {
        case leaving = 0
        case wrongSecret = 1
        case version = 2
        case preference = 3
        case replaced = 4
        case dropped = 5
        case notAdmitted = 6
        case shortIDTaken = 7
    }

    public var reason: Reason

    public init(reason: Reason) { self.reason = reason }

    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        guard let reason = Reason(rawValue: try reader.readUInt8()) else {
            throw .invalid(field: "reason")
        }
        self.reason = reason
    }

    public var bytes: [UInt8] { [FrameKind.close.rawValue, reason.rawValue] }
}

/// Proves that the other side of a channel is reached at an address: the response repeats the
/// token.
///
///     kind 0x14 or 0x15 (1) | token (8)
public struct PathFrame: Hashable, Sendable {
    public var isResponse: Bool
    public var token: UInt64

    public init(isResponse: Bool, token: UInt64) {
        self.isResponse = isResponse
        self.token = token
    }

    public init(parsing body: ArraySlice<UInt8>, isResponse: Bool) throws(WireError) {
        var reader = ByteReader(body)
        self.isResponse = isResponse
        token = try reader.readUInt64()
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 9)
        writer.write((isResponse ? FrameKind.pathResponse : .pathChallenge).rawValue)
        writer.write(token)
        return writer.bytes
    }
}
