import NearbyCore

/// The last frame of a channel; not acknowledged.
///
///     kind 0x13 (1) | reason (1) | later fields, skipped
public struct CloseFrame: Equatable, Sendable {
    public enum Reason: UInt8, CaseIterable, Sendable {
        case leaving = 0
        case wrongSecret = 1
        case version = 2
        case preference = 3
        case replaced = 4
        case dropped = 5
        case notAdmitted = 6
        case shortIDTaken = 7
        /// It is not among the peers that `trust: pinned` names.
        case notListed = 8
        /// It has no certificate that leads to the other side's anchors.
        case certificate = 9
        /// It has one, which is not valid yet or any more.
        case certificateExpired = 10
        /// It has one, which does not name the role that it says it has.
        case role = 11
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
