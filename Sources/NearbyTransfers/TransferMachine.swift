import NearbyCore
import NearbyEngine
import NearbyWire

/// Streams and resources between us and one peer, over messages of the node that may be lost,
/// doubled or overtaken.
///
/// It makes of them what QUIC makes of datagrams (RFC 9000, RFC 9002): numbered packets of frames,
/// acknowledgements in ranges, what is lost is sent again, a congestion window with pacing. What
/// the node already does is left to it: keys, paths, and who the peer is.
///
/// Streams go at priority `.reliable`, resources at `.bulk`, in packets that are numbered apart.
/// The machine lives as long as our own process and one peer; the owner says when another run of
/// the peer has its place.
public struct TransferMachine: Sendable {
    public typealias Input = TransferInput
    public typealias Output = TransferOutput

    var outgoingStreams = OutgoingStreams()
    var incomingStreams = IncomingStreams()
    var outgoingResources = OutgoingResources()
    var incomingResources = IncomingResources()

    /// Whether the node has a channel with the peer; without one nothing leaves.
    private(set) var isReachable = true
    var path = PathState()
    /// Until then messages are taken to be under way.
    var sharedUntil = Instant.zero
    /// By lane.
    var sent = TransferLane.allCases.map { _ in SentPackets() }
    var received = TransferLane.allCases.map { ReceivedPackets($0) }
    /// Frames other than data, until they are in a packet; those that are lost come back.
    var frames = Deque<TransferFrame>()
    /// Packets of streams in a row, while a resource waited.
    var bulkSkips = 0

    public init() {}

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .openStream, .write, .finish, .reset, .stop, .consumed:
            apply(handleStream(input, now), &outputs)
        case .offer, .offerAgain, .accept, .cancel, .data, .readFailed, .written, .writeFailed,
            .verified:
            apply(handleResource(input), &outputs)
        case .received(let message): receive(message, now, &outputs)
        case .reachable:
            if !isReachable { resetPath() }
            isReachable = true
        case .unreachable:
            isReachable = false
            apply(incomingResources.flushAll(), &outputs)
        case .pathChanged: resetPath()
        case .messagePassed: sharedUntil = now + Limits.messageMemory
        case .restarted: apply(beginAnew(), &outputs)
        case .endAll: apply(endAll(), &outputs)
        case .abandoned: apply(abandon(), &outputs)
        case .deadlineReached: deadlineReached(now, &outputs)
        }
        transmit(now, &outputs)
        return outputs
    }

    private mutating func handleStream(_ input: Input, _ now: Instant) -> TransferEffects {
        switch input {
        case .openStream(let name, let group): return outgoingStreams.open(name, group)
        case .write(let id, let bytes) where id.isOwn:
            return outgoingStreams.write(bytes, to: id.number)
        case .finish(let id) where id.isOwn: outgoingStreams.finish(id.number)
        case .reset(let id, let reason) where id.isOwn:
            return outgoingStreams.reset(id.number, reason)
        case .stop(let id, let reason) where !id.isOwn:
            return incomingStreams.stop(id.number, reason)
        case .consumed(let id, let count) where !id.isOwn:
            return incomingStreams.consumed(
                id.number, count, roundTrip: path.rtt.smoothed, now: now)
        default: break
        }
        return TransferEffects()
    }

    private mutating func handleResource(_ input: Input) -> TransferEffects {
        switch input {
        case .offer(let offer): outgoingResources.offer(offer)
        case .offerAgain(let id, let group) where id.isOwn:
            outgoingResources.offerAgain(id.number, group)
        case .accept(let id, let offset) where !id.isOwn:
            incomingResources.accept(id.number, from: offset)
        case .cancel(let id, let reason):
            id.isOwn
                ? outgoingResources.cancel(id.number, reason)
                : incomingResources.stop(id.number, reason)
        case .data(let id, let bytes, let sha256) where id.isOwn:
            outgoingResources.data(id.number, bytes, sha256: sha256)
        case .readFailed(let id) where id.isOwn: outgoingResources.readFailed(id.number)
        case .written(let id) where !id.isOwn: incomingResources.written(id.number)
        case .writeFailed(let id) where !id.isOwn:
            incomingResources.failed(id.number, .writeFailed)
        case .verified(let id, let isGood) where !id.isOwn:
            incomingResources.verified(id.number, isGood)
        default: TransferEffects()
        }
    }

    // MARK: Reading

    /// The stream that the next `openStream` opens.
    public var nextStream: StreamID { StreamID(isOwn: true, number: outgoingStreams.next) }

    /// Whether there is a place for the stream that the next `openStream` opens.
    public var mayOpenStream: Bool { outgoingStreams.mayOpen }

    /// The resource that the next `offer` offers.
    public var nextResource: ResourceID { ResourceID(isOwn: true, number: outgoingResources.next) }

    /// Whether another resource can be offered now.
    public var mayOffer: Bool { outgoingResources.mayOffer }

    /// What can be written to one of our own streams now: 0–`Limits.streamSendBytesMax` bytes; nil:
    /// there is no such stream (any more).
    public func room(of id: StreamID) -> Int? {
        id.isOwn ? outgoingStreams.room(of: id.number) : nil
    }

    /// Bytes of a resource that the receiver has, or, of the peer's, that are written; nil: it is
    /// not on its way (any more).
    public func progress(of id: ResourceID) -> (completed: Int64, total: Int64)? {
        id.isOwn
            ? outgoingResources.progress(of: id.number) : incomingResources.progress(of: id.number)
    }

    /// The smoothed round-trip time; RFC 9002's initial value before the first sample.
    public var roundTrip: Duration { path.rtt.smoothed }

    /// Every table with its size and its limit.
    public var tableSizes: [(name: String, count: Int, limit: Int)] {
        [
            ("own streams", outgoingStreams.count, Limits.streamsMax),
            ("streams", incomingStreams.count, Limits.streamsMax),
            ("own resources", outgoingResources.count, Limits.resourcesMax),
            ("resources", incomingResources.count, Limits.resourcesMax),
            ("bytes of streams", incomingStreams.heldByteCount, Limits.streamsWindowBytes),
            ("bytes of resources", incomingResources.heldByteCount, Limits.resourcesWindowBytes),
            (
                "bytes read", outgoingResources.heldByteCount,
                Limits.resourcesMax * Limits.resourceWindowBytes
            ),
            ("sent packets", sent.map(\.recordCount).max() ?? 0, Limits.sentPacketsMax),
            ("frames", frames.count, 2 * Limits.transferFramesMax),
        ]
    }

    // MARK: Beginnings and ends

    mutating func apply(_ effects: TransferEffects, _ outputs: inout [Output]) {
        if !effects.outputs.isEmpty { outputs += effects.outputs }
        for frame in effects.frames { frames.append(frame) }
    }

    /// What was under way is sent again, and what was learnt of the path is forgotten.
    private mutating func resetPath() {
        path = PathState()
        for lane in TransferLane.allCases {
            for packet in sent[Int(lane.rawValue)].giveUpAll() { sendAgain(packet) }
        }
    }

    /// The peer knows nothing of us, and we know nothing of it.
    private mutating func beginAnew() -> TransferEffects {
        forgetPackets()
        var effects = outgoingStreams.endAll(.restarted)
        effects.outputs += incomingStreams.endAll(.restarted).outputs
        effects.outputs += incomingResources.endAll(.restarted).outputs
        effects.outputs += outgoingResources.interruptAll().outputs
        isReachable = true
        return effects
    }

    /// The peer hears of each end.
    private mutating func endAll() -> TransferEffects {
        var effects = outgoingStreams.resetAll(.abandoned)
        effects += incomingStreams.stopAll(.abandoned)
        effects += outgoingResources.cancelAll(.abandoned)
        effects += incomingResources.stopAll(.abandoned)
        return effects
    }

    private mutating func abandon() -> TransferEffects {
        forgetPackets()
        var effects = outgoingStreams.endAll(.abandoned)
        effects.outputs += incomingStreams.endAll(.abandoned).outputs
        effects.outputs += outgoingResources.endAll(.abandoned).outputs
        effects.outputs += incomingResources.endAll(.abandoned).outputs
        isReachable = false
        return effects
    }

    private mutating func forgetPackets() {
        path = PathState()
        sent = TransferLane.allCases.map { _ in SentPackets() }
        received = TransferLane.allCases.map { ReceivedPackets($0) }
        frames.removeAll()
        bulkSkips = 0
    }
}
