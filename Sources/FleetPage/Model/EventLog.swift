import Fleet
import NearbyCore

/// The last changes of the fleet as server-sent events (WHATWG HTML §9.2). Readers keep a place in
/// it; whoever is too far behind gets the newest whole instead.
struct EventLog {
    /// The next event's number.
    private(set) var end: UInt64 = 0
    /// The newest, the last of them `end` − 1.
    private var changes: [[UInt8]] = []
    private var snapshot: FleetSnapshot?
    /// The snapshot whole, once somebody needs it.
    private var whole: [UInt8]?
    /// Large changes come less often: bytes a second for one reader.
    private var quietUntil = Instant(nanoseconds: 0)

    /// Changes that are kept for those who are slow.
    static let countMax = 8
    static let bytesPerSecond = 256 << 10

    /// Takes a newer snapshot. True if there is an event for the readers now.
    mutating func add(_ newest: FleetSnapshot, now: Instant) -> Bool {
        guard let old = snapshot else {
            snapshot = newest
            end += 1
            return true
        }
        guard newest != old, now >= quietUntil else { return false }
        let change = Self.event("change", FleetChange.text(from: old, to: newest))
        snapshot = newest
        whole = nil
        end += 1
        changes.append(change)
        if changes.count > Self.countMax { changes.removeFirst() }
        quietUntil = now + .milliseconds(change.count * 1_000 / Self.bytesPerSecond)
        return true
    }

    /// What a reader gets who has everything before `place`, or nothing yet (nil); moves the place.
    /// Nil if nothing is new.
    mutating func next(after place: inout UInt64?) -> [UInt8]? {
        guard let snapshot, place != end else { return nil }
        if let begin = place, end - begin <= UInt64(changes.count) {
            place = begin + 1
            return changes[changes.count - Int(end - begin)]
        }
        place = end
        if let whole { return whole }
        let text = Self.event("fleet", FleetJSON.text(snapshot))
        whole = text
        return text
    }

    /// Forgets all, where nobody reads.
    mutating func clear() {
        changes = []
        whole = nil
        snapshot = nil
        end += 1
    }

    /// JSON has no line feeds outside of strings, and none in them.
    private static func event(_ name: String, _ data: [UInt8]) -> [UInt8] {
        Array("event: \(name)\ndata: ".utf8) + data + Array("\n\n".utf8)
    }
}
