import NearbyCore

/// When a beacon leaves: quickly at first, seldom later (after RFC 6206).
///
/// At once, then after 100 ms, 300 ms, 1 s, doubling to the longest, each ± 25 %. While the node is
/// content the first four leave as ever, then the longest interval follows at once, and a beacon is
/// left out where enough others were heard meanwhile.
///
/// Deviations from RFC 6206: every interval has its beacon at its end and not at a random moment of
/// its second half, so that the first is at once; and no two in succession are left out, since each
/// node's beacon says something that no other's does.
struct Trickle: Sendable, Equatable {
    /// When `fire` wants to be called.
    private(set) var due: Instant
    private let longest: Duration
    private var step = 0
    private var lastReset: Instant
    private var heard = 0
    private var leftOut = false

    /// The first beacon is due at once.
    init(now: Instant, longest: Duration = Self.longest) {
        due = now
        lastReset = now
        self.longest = longest
    }

    /// A beacon that said nothing new (RFC 6206 §4.2 step 3).
    mutating func heardConsistent() { heard &+= 1 }

    /// Something changed: begin again (RFC 6206 §4.2 step 6). At most every 5 s; between, the next
    /// beacon comes within a second, so that a node whose state flaps sends at most one beacon a
    /// second.
    mutating func reset(now: Instant) {
        leftOut = false
        heard = 0
        if now - lastReset < Self.resetSpacing {
            due = min(due, now + .seconds(1))
        } else {
            lastReset = now
            step = 0
            due = now
        }
    }

    /// Call when `due` has come. True: send a beacon now. The next one is due later in any case.
    mutating func fire(
        content: Bool, now: Instant, using generator: inout SeededGenerator
    ) -> Bool {
        let isOpening = step <= Self.opening.count
        leftOut = content && !isOpening && !leftOut && heard >= Self.redundancy
        heard = 0
        let interval = content && step >= Self.opening.count ? longest : interval(step)
        due = now + generator.duration(in: interval * 3 / 4..<interval * 5 / 4)
        step = min(step + 1, Self.stepMax)
        return !leftOut
    }

    /// At most so many beacons leave in the coming second, unless something changes.
    var dueWithinASecond: Int { max(1, 3 - step) }

    /// Between the first beacons.
    static let opening: [Duration] = [.milliseconds(100), .milliseconds(300), .seconds(1)]
    static let longest: Duration = .seconds(30)
    /// Where people see who is near, and who is gone.
    static let longestShown: Duration = .seconds(10)
    /// RFC 6206's k.
    static let redundancy = 10
    private static let resetSpacing: Duration = .seconds(5)
    private static let stepMax = 8

    /// 100 ms, 300 ms, 1 s, 2 s, 4 s, 8 s, 16 s, 30 s.
    private func interval(_ step: Int) -> Duration {
        let opening = Self.opening
        return step < opening.count
            ? opening[step] : min(longest, .seconds(1 << (step - opening.count + 1)))
    }
}
