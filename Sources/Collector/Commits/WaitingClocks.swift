import NearbyCore
import Telemetry

/// Clock mappings that wait for the store, by boot. When our own clock is set right, all boots of
/// all agents have new ones at once, and what is not written then is never told again: so there is
/// room for all of them.
struct WaitingClocks: Sendable {
    /// Of each boot in the order of their beginnings.
    private var mappings: [BootID: [ClockMapping]] = [:]
    /// Those that are in `mappings`, in the order in which they came.
    private var boots = Deque<BootID>()
    private var count = 0

    var isEmpty: Bool { count == 0 }

    /// It replaces what waits of the same boot from the same moment on. Returns how many had to go:
    /// the oldest of this boot, or all of the boot that has waited for longest.
    mutating func add(_ mapping: ClockMapping) -> Int {
        if mappings[mapping.boot] == nil { boots.append(mapping.boot) }
        var own = mappings[mapping.boot] ?? []
        count -= own.count
        while let last = own.last, last.since >= mapping.since { own.removeLast() }
        own.append(mapping)
        var dropped = 0
        if own.count > Limits.uncommittedClocksPerBootMax {
            own.removeFirst()
            dropped = 1
        }
        count += own.count
        mappings[mapping.boot] = own
        while count > Limits.uncommittedClocksMax, let boot = boots.popFirst() {
            let gone = mappings.removeValue(forKey: boot)?.count ?? 0
            count -= gone
            dropped += gone
        }
        return dropped
    }

    mutating func takeAll() -> [ClockMapping] {
        defer { self = WaitingClocks() }
        var all: [ClockMapping] = []
        while let boot = boots.popFirst() { all += mappings[boot] ?? [] }
        return all
    }
}

extension Limits {
    /// Clock mappings that wait for the store: a thousand boots with as many stretches as a boot
    /// may have, twice over; and those of one boot.
    static let uncommittedClocksMax = 131_072
    static let uncommittedClocksPerBootMax = 4_096
}
