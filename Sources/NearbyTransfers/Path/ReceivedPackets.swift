import NearbyCore

/// Which packets of one lane came, and when the sender is to be told (RFC 9000 §13.2).
struct ReceivedPackets: Sendable {
    private var packets = NumberRanges()
    private var largestAt = Instant.zero
    /// That came since the last acknowledgement.
    private var waitingCount = 0
    private var acknowledgedAt: Instant?
    /// When it leaves by itself.
    private(set) var deadline: Instant?

    private let lane: TransferLane

    init(_ lane: TransferLane) { self.lane = lane }

    /// Whether it came before, or so long ago that this cannot be told.
    func knows(_ number: UInt64) -> Bool {
        if packets.contains(number) { return true }
        return packets.ranges.count >= Limits.packetRangesMax
            && number < packets.ranges[0].lowerBound
    }

    /// Two packets are acknowledged at once, unless they come so fast that more can wait for each
    /// other; one alone after 25 ms; one that is out of sequence at once.
    mutating func received(_ number: UInt64, now: Instant) {
        let next = packets.ranges.last?.upperBound ?? 0
        packets.insert(number..<number + 1)
        packets.keepHighest(Limits.packetRangesMax)
        if number >= next { largestAt = now }
        waitingCount += 1
        var due = now + Limits.acknowledgementDelayMax
        if number != next || waitingCount >= Limits.acknowledgedPacketsMax {
            due = now
        } else if waitingCount >= 2 {
            due = max(now, (acknowledgedAt ?? .zero) + Limits.acknowledgementGap)
        }
        deadline = min(deadline ?? due, due)
    }

    /// It came again: its acknowledgement was lost.
    mutating func receivedAgain(now: Instant) { deadline = now }

    /// What is to be said, whether it is due or not; nil if there is nothing new.
    func acknowledgement(byteBudget: Int, now: Instant) -> PacketAcknowledgement? {
        guard deadline != nil else { return nil }
        return PacketAcknowledgement(
            of: lane, rising: packets.ranges, delay: max(.zero, now - largestAt),
            byteBudget: byteBudget)
    }

    mutating func acknowledged(now: Instant) {
        deadline = nil
        waitingCount = 0
        acknowledgedAt = now
    }
}
