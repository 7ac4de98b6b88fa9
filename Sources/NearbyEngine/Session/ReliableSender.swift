import NearbyCore
import NearbyWire

/// Sends a stream of messages in segments until each byte is acknowledged (RFC 9002).
struct ReliableSender: Sendable {
    private struct Segment {
        var range: Range<UInt64>
        var byteCount: Int
        var sentAt: Instant
        var isInFlight = true
    }

    private var buffer = SendBuffer()
    /// Where what was never sent begins.
    private var nextOffset: UInt64 = 0
    private var peerLimit = UInt64(Limits.receiveWindowBytes)
    /// All below is acknowledged.
    private var acknowledgedEnd: UInt64 = 0
    private var acknowledged = NumberRanges()
    private var lost = NumberRanges()

    /// Records of the numbers before `nextNumber`; those that matter no more leave at the front.
    private var sent = Deque<Segment>()
    private var nextNumber: UInt64 = 0
    private var largestAcknowledged: UInt64?
    private var lastSentAt = Instant.zero
    private var lossDeadline: Instant?
    private var probesInVain = 0

    private(set) var rtt = RTTEstimator()
    private(set) var window = CongestionWindow()

    init() {}

    /// Takes a message to send, or says why not.
    mutating func enqueue(_ message: [UInt8]) -> DropReason? {
        guard message.count <= Limits.reliableMessageBytesMax else { return .messageTooLong }
        return buffer.append(message) ? nil : .queueFullReliable
    }

    /// Learns what arrived; an acknowledgement of what was never sent is refused whole.
    mutating func receive(
        _ frame: AcknowledgementFrame, now: Instant
    ) -> DropReason? {
        guard frame.largest < nextNumber else { return .acknowledgementUnsent }
        peerLimit = max(peerLimit, frame.windowLimit)
        largestAcknowledged = max(largestAcknowledged ?? 0, frame.largest)
        let arrived = frame.ranges.reversed().flatMap { inFlightSegments($0) }
        if let last = arrived.last {
            if last.number == frame.largest {
                rtt.add(sample: now - last.segment.sentAt, acknowledgementDelay: frame.delay)
            }
            probesInVain = 0
            let wasUsed = window.isUsed
            for (_, segment) in arrived {
                window.acknowledged(segment.byteCount, sentAt: segment.sentAt, wasUsed: wasUsed)
                acknowledged.insert(
                    max(
                        segment.range.lowerBound, acknowledgedEnd)..<max(
                            segment.range.upperBound, acknowledgedEnd))
                lost.remove(segment.range)
            }
            acknowledgedEnd = acknowledged.end(from: acknowledgedEnd)
            acknowledged.remove(0..<acknowledgedEnd)
            buffer.release(upTo: acknowledgedEnd)
        }
        detectLosses(now: now)
        trim()
        return nil
    }

    /// The segments that may leave now, whole frames.
    mutating func transmit(now: Instant) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        window.refill(smoothed: rtt.smoothed, now: now)
        while mayTransmit, window.hasCredit, let range = nextRange() {
            frames.append(send(range, now: now))
        }
        return frames
    }

    /// Does what is due: declares losses, or probes a silent path with one or two segments.
    mutating func handleDeadline(now: Instant) -> [[UInt8]] {
        if let lossDeadline {
            if now >= lossDeadline { detectLosses(now: now) }
            trim()
            return []
        }
        guard let probeDeadline, now >= probeDeadline else { return [] }
        probesInVain += 1
        return probeRanges().map { send($0, now: now) }
    }

    /// Frames take another path from now on: what was in flight is sent again, and what was learnt
    /// of the old path is forgotten (RFC 9000 §9.4).
    mutating func resetPath() {
        for position in 0..<sent.count where sent[position].isInFlight {
            sent[position].isInFlight = false
            markLost(sent[position])
        }
        trim()
        rtt = RTTEstimator()
        window = CongestionWindow()
        lossDeadline = nil
        probesInVain = 0
    }

    /// When a loss is certain, a probe is due or the pace allows more.
    var nextDeadline: Instant? {
        let pace =
            mayTransmit && !window.hasCredit && hasNextRange
            ? window.creditDeadline(smoothed: rtt.smoothed) : nil
        return [lossDeadline ?? probeDeadline, pace].compactMap { $0 }.min()
    }

    /// Messages that were not acknowledged, or lie behind one that was not, in order.
    var unacknowledged: [[UInt8]] { buffer.messages }

    /// Bytes of the messages in `unacknowledged`, with their lengths.
    var queuedBytes: Int { buffer.byteCount }

    // MARK: What leaves

    private var mayTransmit: Bool {
        window.admits(Limits.segmentBytesMax) && sent.count < Limits.sentSegmentsMax
    }

    private var hasNextRange: Bool {
        !lost.ranges.isEmpty || nextOffset < min(buffer.end, peerLimit)
    }

    /// What was lost first, then what is new; it may be more than a segment holds.
    private func nextRange() -> Range<UInt64>? {
        let range = lost.ranges.first ?? nextOffset..<max(nextOffset, min(buffer.end, peerLimit))
        return range.isEmpty ? nil : range
    }

    /// Sends the beginning of `wanted`, as much as a segment holds.
    private mutating func send(_ wanted: Range<UInt64>, now: Instant) -> [UInt8] {
        let header = SegmentFrame.headerByteCount(number: nextNumber, offset: wanted.lowerBound)
        let range = wanted.prefix(Limits.segmentBytesMax - header)
        if sent.count >= Limits.sentSegmentsMax { evictOldest() }
        let frame = SegmentFrame(
            number: nextNumber, offset: range.lowerBound, data: buffer.bytes(in: range)[...])
        let bytes = frame.bytes
        lost.remove(range)
        nextOffset = max(nextOffset, range.upperBound)
        nextNumber += 1
        sent.append(Segment(range: range, byteCount: bytes.count, sentAt: now))
        window.sent(bytes.count)
        lastSentAt = now
        return bytes
    }

    /// Up to two segments' worth: the oldest in flight, else what waits, else none but a question.
    private func probeRanges() -> [Range<UInt64>] {
        var ranges: [Range<UInt64>] = []
        for segment in sent.elements where segment.isInFlight {
            ranges += acknowledged.missing(in: unacknowledgedPart(of: segment)).prefix(1)
            if ranges.count == Limits.probesAtOnce { break }
        }
        if ranges.isEmpty, let next = nextRange() { ranges = [next] }
        return ranges.isEmpty ? [nextOffset..<nextOffset] : ranges
    }

    // MARK: What happened to it

    /// Records of a range of numbers that were in flight and are no more.
    private mutating func inFlightSegments(
        _ numbers: Range<UInt64>
    ) -> [(number: UInt64, segment: Segment)] {
        var result: [(number: UInt64, segment: Segment)] = []
        let firstNumber = nextNumber - UInt64(sent.count)
        for number in numbers.clamped(to: firstNumber..<nextNumber) {
            let position = Int(number - firstNumber)
            if sent[position].isInFlight { result.append((number, sent[position])) }
            sent[position].isInFlight = false
        }
        return result
    }

    /// RFC 9002 §6.1: lost is what was sent three segments, or 9/8 of a round trip, before one that
    /// came.
    private mutating func detectLosses(now: Instant) {
        lossDeadline = nil
        guard let largestAcknowledged else { return }
        var first: (number: UInt64, sentAt: Instant)?
        var last: (number: UInt64, sentAt: Instant)?
        var isUnbroken = true
        let firstNumber = nextNumber - UInt64(sent.count)
        for position in 0..<sent.count {
            let number = firstNumber + UInt64(position)
            if number >= largestAcknowledged { break }
            let segment = sent[position]
            guard segment.isInFlight else { continue }
            let certain = segment.sentAt + rtt.lossDelay
            guard largestAcknowledged - number >= 3 || certain <= now else {
                lossDeadline = min(lossDeadline ?? certain, certain)
                continue
            }
            sent[position].isInFlight = false
            markLost(segment)
            if let last, last.number + 1 != number { isUnbroken = false }
            if first == nil { first = (number, segment.sentAt) }
            last = (number, segment.sentAt)
        }
        guard let first, let last else { return }
        let isPersistent =
            isUnbroken && rtt.minimum != nil
            && last.sentAt - first.sentAt > rtt.persistentCongestion
        window.lost(sentAt: last.sentAt, isPersistent: isPersistent, now: now)
    }

    private mutating func markLost(_ segment: Segment) {
        window.left(segment.byteCount)
        for range in acknowledged.missing(in: unacknowledgedPart(of: segment)) {
            lost.insert(range)
        }
    }

    /// Forgets a record for want of room; its bytes are sent again. Probes into silence end here.
    private mutating func evictOldest() {
        if let oldest = sent.first, oldest.isInFlight { markLost(oldest) }
        sent.removeFirst()
        trim()
    }

    private mutating func trim() {
        while let first = sent.first, !first.isInFlight { sent.removeFirst() }
    }

    private func unacknowledgedPart(of segment: Segment) -> Range<UInt64> {
        segment.range.clamped(to: acknowledgedEnd..<max(acknowledgedEnd, nextOffset))
    }

    /// RFC 9002 §6.2; also where the peer's window is all that holds us up, as its news may be
    /// lost.
    private var probeDeadline: Instant? {
        let isBlocked = nextOffset < buffer.end || !lost.ranges.isEmpty
        guard !sent.isEmpty || isBlocked else { return nil }
        return lastSentAt + rtt.probeTimeout(afterProbes: probesInVain)
    }
}

extension Limits {
    /// Segments whose fate is awaited.
    static let sentSegmentsMax = 4_096
    /// Segments that ask a silent path (RFC 9002 §6.2.4).
    static let probesAtOnce = 2
}
