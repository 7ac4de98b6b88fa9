import NearbyCore

/// The answer to an invitation.
///
///     kind 0x12 (1) | verdict (1) | retry after, seconds (varint) | later fields, skipped
public struct DecisionFrame: Equatable, Sendable {
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
