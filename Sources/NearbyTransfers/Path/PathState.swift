import NearbyCore
import NearbyEngine

/// What is known of the path to the peer: its round-trip time, how much may be under way, and how
/// often it was probed in vain. Begins anew with each path.
struct PathState: Sendable {
    private(set) var rtt = RTTEstimator()
    var window = TransferWindow()
    private var brakes = [DelayBrake](repeating: DelayBrake(), count: TransferLane.allCases.count)
    private(set) var probesInVain = 0
    private(set) var probedAt = Instant.zero

    mutating func sent(_ byteCount: Int) { window.sent(byteCount) }

    /// Packets of a lane arrived.
    ///
    /// - Parameter isBulkBusy: whether packets of resources are under way; then only these tell of
    ///   queues, since the others overtake them.
    mutating func arrived(
        _ arrival: SentPackets.Arrival, in lane: TransferLane, delay: Duration, isBulkBusy: Bool,
        now: Instant
    ) {
        guard !arrival.packets.isEmpty else { return }
        probesInVain = 0
        if let sample = arrival.sample {
            rtt.add(sample: sample.roundTrip, acknowledgementDelay: delay)
        }
        var cameBackCount = 0
        for packet in arrival.packets {
            if packet.fate == .lost {
                cameBackCount += 1
            } else {
                window.acknowledged(packet.byteCount, sentAt: packet.sentAt)
            }
        }
        if cameBackCount > 0 { window.cameBack(cameBackCount) }
        guard let sample = arrival.sample, lane == .bulk || !isBulkBusy else { return }
        let delay = min(delay, Limits.acknowledgementDelayMax)
        let net = sample.roundTrip > delay ? sample.roundTrip - delay : sample.roundTrip
        let finding = brakes[Int(lane.rawValue)].add(
            net, sentAt: sample.sentAt, flight: sample.flight,
            burst: window.burst(smoothed: rtt.smoothed), variation: rtt.variation, now: now)
        switch finding {
        case nil: break
        case .clear: window.roundWasClear()
        case .suspicion: window.beCautious()
        case .queue(let fitting): window.brake(fitting: fitting)
        }
    }

    /// Packets were lost.
    mutating func lost(_ loss: SentPackets.Loss, now: Instant) {
        guard !loss.packets.isEmpty else { return }
        for packet in loss.packets { window.left(packet.byteCount) }
        let isPersistent = rtt.minimum != nil && loss.span > rtt.persistentCongestion
        window.lost(
            loss.packets.count, sentAt: loss.sentAt, isPersistent: isPersistent, now: now)
    }

    /// Packets that count no more, without a word of the path.
    mutating func left(_ packet: SentPacket) { window.left(packet.byteCount) }

    /// What could leave has left; `isHeldUp` by the window or the pace, or there was no more.
    mutating func transmitted(isHeldUp: Bool) { window.isLimiting = isHeldUp }

    mutating func probed(now: Instant) {
        probesInVain += 1
        probedAt = now
    }

    mutating func refill(now: Instant) { window.refill(smoothed: rtt.smoothed, now: now) }

    var mayTransmit: Bool { window.admits(Limits.messageBytesMax) }

    var probeTimeout: Duration { rtt.probeTimeout(afterProbes: probesInVain) }

    var paceDeadline: Instant? { window.creditDeadline(smoothed: rtt.smoothed) }
}
