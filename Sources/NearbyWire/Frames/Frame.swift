import NearbyCore

/// What a sealed frame holds, read where it is opened and nowhere else. Bytes inside still share
/// the datagram's storage.
public enum Frame: Sendable {
    case hop(HopFrame)
    case channel(ChannelFrame)
    case endToEnd(EndToEndFrame)

    public enum Refusal: Error, Hashable, Sendable {
        /// Of a later version, perhaps.
        case unknownKind
        case malformed(FrameKind)
    }

    /// - Parameter payload: a whole frame, which begins with its kind.
    public init(parsing payload: ArraySlice<UInt8>) throws(Refusal) {
        guard let kind = payload.first.flatMap(FrameKind.init) else { throw .unknownKind }
        do throws(WireError) {
            self = try Self.parse(kind, payload.dropFirst())
        } catch {
            throw .malformed(kind)
        }
    }

    private static func parse(
        _ kind: FrameKind, _ body: ArraySlice<UInt8>
    ) throws(WireError) -> Frame {
        switch kind {
        case .liveness: .hop(.liveness(try LivenessFrame(parsing: body)))
        case .routing: .hop(.routing(try RoutingMessage(parsing: body)))
        case .packet: .hop(.packet(try MeshPacket(parsing: body)))
        case .bundle: .hop(.bundle(try FrameBundle(parsing: body)))
        case .empty: .hop(.empty)
        case .admit: .channel(.admit(try AdmitFrame(parsing: body)))
        case .invite: .channel(.invite(try InviteFrame(parsing: body)))
        case .decision: .channel(.decision(try DecisionFrame(parsing: body)))
        case .close: .channel(.close(try CloseFrame(parsing: body)))
        case .pathChallenge: .channel(.path(try PathFrame(parsing: body, isResponse: false)))
        case .pathResponse: .channel(.path(try PathFrame(parsing: body, isResponse: true)))
        case .message: .endToEnd(.message(body))
        case .segment: .endToEnd(.segment(try SegmentFrame(parsing: body)))
        case .acknowledgement:
            .endToEnd(.acknowledgement(try AcknowledgementFrame(parsing: body)))
        }
    }
}

/// Between two neighbours, on a link between the two.
public enum HopFrame: Sendable {
    case liveness(LivenessFrame)
    case routing(RoutingMessage)
    case packet(MeshPacket)
    case bundle(FrameBundle)
    /// Nothing: it shows that its sender is alive.
    case empty
}

/// Of the channel itself, on any path.
public enum ChannelFrame: Sendable {
    case admit(AdmitFrame)
    case invite(InviteFrame)
    case decision(DecisionFrame)
    case close(CloseFrame)
    case path(PathFrame)
}

/// Of the session, from end to end.
public enum EndToEndFrame: Sendable {
    /// One that may be lost: all of the frame behind its kind.
    case message(ArraySlice<UInt8>)
    case segment(SegmentFrame)
    case acknowledgement(AcknowledgementFrame)

    /// Whether it belongs to no session in particular.
    public var isMessage: Bool { if case .message = self { true } else { false } }
}
