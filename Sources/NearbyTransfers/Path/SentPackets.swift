import NearbyCore
import NearbyEngine

/// What a packet carried that has to be sent again if it is lost.
enum SentFrame: Sendable {
    case data(SentData)
    case frame(TransferFrame)
}

/// Bytes of one of our own streams or resources.
struct SentData: Sendable {
    var kind: TransferFrame.Body.Kind
    /// As our program knows it, not as it is on the wire.
    var number: UInt64
    var range: Range<UInt64>
    var isLast: Bool
}

struct SentPacket: Sendable {
    enum Fate: Sendable { case inFlight, arrived, lost }

    var fate = Fate.inFlight
    var byteCount = 0
    var sentAt = Instant.zero
    /// Bytes under way with it.
    var flight = 0
    /// The one thing that most packets carry.
    var data: SentData?
    var others: [SentFrame] = []

    mutating func add(_ new: SentData) {
        if data == nil { data = new } else { others.append(.data(new)) }
    }

    var isEmpty: Bool { data == nil && others.isEmpty }

    /// The record stays for the order's sake, what it carried does not.
    ///
    /// - Returns: what it was before.
    mutating func settled(as new: Fate) -> SentPacket {
        let before = self
        fate = new
        data = nil
        others = []
        return before
    }
}

/// The packets of one lane, until their fate is known (RFC 9002 §6.1).
///
/// What was declared lost is remembered for a while: if it arrives after all, the path reorders,
/// and later packets are given more time.
struct SentPackets: Sendable {
    /// Records of the numbers before `nextNumber`; those that matter no more leave at the front.
    private var packets = Deque<SentPacket>()
    private(set) var nextNumber: UInt64 = 0
    private(set) var inFlightCount = 0
    private(set) var lastSentAt = Instant.zero
    private(set) var lossDeadline: Instant?
    private var largestArrived: UInt64?
    /// Of those that have a record.
    private var arrived = NumberRanges()
    /// No number below is in flight.
    private var settledEnd: UInt64 = 0
    private var reorderedPackets = Limits.reorderedPacketsMin
    private var reorderedTime = Duration.zero

    struct Sample {
        var roundTrip: Duration
        var sentAt: Instant
        var flight: Int
    }

    struct Arrival {
        var packets: [SentPacket] = []
        /// How long the largest one was on its way, if the news of it is new.
        var sample: Sample?
    }

    struct Loss {
        var packets: [SentPacket] = []
        /// When the last of them was sent.
        var sentAt = Instant.zero
        /// How long they span, if nothing between them arrived.
        var span = Duration.zero
    }

    var hasRoom: Bool { packets.count < Limits.sentPacketsMax }

    /// - Returns: a packet that was given up for want of room.
    mutating func sent(_ packet: SentPacket) -> SentPacket? {
        var evicted: SentPacket?
        if !hasRoom, let oldest = packets.popFirst(), oldest.fate == .inFlight {
            inFlightCount -= 1
            evicted = oldest
        }
        packets.append(packet)
        nextNumber += 1
        settledEnd = max(settledEnd, firstNumber)
        inFlightCount += 1
        lastSentAt = packet.sentAt
        return evicted
    }

    /// The packets that are news, those that counted as lost among them; nil, if the peer
    /// acknowledges what was never sent.
    mutating func receive(
        _ frame: PacketAcknowledgement, _ rtt: RTTEstimator, now: Instant
    ) -> Arrival? {
        guard frame.largest < nextNumber else { return nil }
        var arrival = Arrival()
        let known = firstNumber..<nextNumber
        for range in frame.ranges {
            let clamped = range.clamped(to: known)
            if clamped.isEmpty { break }
            for news in arrived.missing(in: clamped) {
                for number in news { arrive(number, frame.largest, rtt, now, &arrival) }
                arrived.insert(news)
            }
        }
        largestArrived = max(largestArrived ?? 0, frame.largest)
        return arrival
    }

    private mutating func arrive(
        _ number: UInt64, _ largest: UInt64, _ rtt: RTTEstimator, _ now: Instant,
        _ arrival: inout Arrival
    ) {
        let position = Int(number - firstNumber)
        let packet = packets[position].settled(as: .arrived)
        arrival.packets.append(packet)
        if number == largest {
            arrival.sample = Sample(
                roundTrip: now - packet.sentAt, sentAt: packet.sentAt, flight: packet.flight)
        }
        if packet.fate == .inFlight { inFlightCount -= 1 }
        guard packet.fate == .lost else { return }
        let distance = (largestArrived ?? number) &- number &+ 1
        reorderedPackets = min(max(reorderedPackets, distance), Limits.reorderedPacketsMax)
        let late = now - packet.sentAt - rtt.lossDelay
        reorderedTime = min(max(reorderedTime, late), max(rtt.smoothed, .milliseconds(100)))
    }

    /// Lost is what was sent some packets, or some time, before one that came.
    mutating func detectLosses(_ rtt: RTTEstimator, now: Instant) -> Loss {
        lossDeadline = nil
        var loss = Loss()
        guard let largestArrived else { return loss }
        var previous: UInt64?
        var first: Instant?
        var number = settledEnd
        while number < largestArrived {
            let position = Int(number - firstNumber)
            if packets[position].fate == .inFlight {
                let certain = packets[position].sentAt + rtt.lossDelay + reorderedTime
                guard largestArrived - number >= reorderedPackets || certain <= now else {
                    lossDeadline = certain
                    break
                }
                let packet = packets[position].settled(as: .lost)
                inFlightCount -= 1
                loss.packets.append(packet)
                loss.sentAt = packet.sentAt
                if let previous, previous + 1 != number { first = nil }
                if first == nil { first = packet.sentAt }
                previous = number
                loss.span = max(loss.span, packet.sentAt - (first ?? packet.sentAt))
            }
            number += 1
        }
        settledEnd = max(settledEnd, number)
        return loss
    }

    /// Forgets what is settled, and what was lost so long ago that it does not come any more.
    mutating func trim(_ rtt: RTTEstimator, now: Instant) {
        let memory = rtt.persistentCongestion
        while let first = packets.first, first.fate != .inFlight {
            if first.fate == .lost, now - first.sentAt < memory, hasRoom { break }
            packets.popFirst()
        }
        // The places of a great transfer are not kept for a peer with which nothing goes on.
        if packets.isEmpty { packets.removeAll() }
        settledEnd = max(settledEnd, firstNumber)
        arrived.remove(0..<firstNumber)
    }

    /// What the oldest packets under way carry, for a probe; they stay under way.
    func oldest(_ count: Int) -> [SentPacket] {
        var result: [SentPacket] = []
        var position = Int(settledEnd - firstNumber)
        while position < packets.count, result.count < count {
            if packets[position].fate == .inFlight { result.append(packets[position]) }
            position += 1
        }
        return result
    }

    /// All that is under way counts as lost, without a word of the path.
    mutating func giveUpAll() -> [SentPacket] {
        var result: [SentPacket] = []
        while let packet = packets.popFirst() {
            if packet.fate == .inFlight { result.append(packet) }
        }
        inFlightCount = 0
        lossDeadline = nil
        settledEnd = nextNumber
        arrived = NumberRanges()
        reorderedPackets = Limits.reorderedPacketsMin
        reorderedTime = .zero
        return result
    }

    var recordCount: Int { packets.count }

    private var firstNumber: UInt64 { nextNumber - UInt64(packets.count) }
}
