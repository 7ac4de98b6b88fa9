import NearbyCore
import NearbyEngine
import NearbyWire

/// Two sessions and a path between them that loses, doubles and overtakes, in virtual time.
struct SessionNetwork {
    struct Faults {
        var loss = 0.0
        var duplication = 0.0
        /// Added to `delay`, evenly spread: overtaking where it exceeds the distance of two frames.
        var jitter: Duration = .zero
        var delay: Duration = .milliseconds(10)
    }

    private struct Arrival {
        var at: Instant
        var side: Int
        var frame: [UInt8]
    }

    var sessions = [SessionMachine(), SessionMachine()]
    var faults: Faults
    var now = Instant.zero
    /// Per side, in order.
    var delivered: [[[UInt8]]] = [[], []]
    var unreliable: [[[UInt8]]] = [[], []]
    var drops: [DropReason: Int] = [:]
    var frameCount = 0
    var longestFrame = 0
    /// Frames that leave while it is true vanish.
    var isCut = false

    private var arrivals: [Arrival] = []
    private var generator: SeededGenerator

    init(faults: Faults = Faults(), seed: UInt64 = 1) {
        self.faults = faults
        generator = SeededGenerator(seed: seed)
    }

    mutating func handle(_ side: Int, _ input: SessionMachine.Input) {
        for output in sessions[side].handle(input, now: now) {
            switch output {
            case .frame(let frame, _): send(frame, to: 1 - side)
            case .delivered(let message, true): delivered[side].append(message)
            case .delivered(let message, false): unreliable[side].append(message)
            case .drop(let reason): drops[reason, default: 0] += 1
            case .broken: drops[.messageMalformed, default: 0] += 1
            }
        }
    }

    /// Runs until the time or until neither frame nor deadline is left; false if steps run out.
    @discardableResult
    mutating func run(until end: Instant, steps: Int = 2_000_000) -> Bool {
        for _ in 0..<steps {
            let deadlines = sessions.map { $0.nextDeadline ?? .distantFuture }
            let arrival = arrivals.last?.at ?? .distantFuture
            let next = min(arrival, deadlines[0], deadlines[1])
            guard next <= end, next < .distantFuture else { return true }
            now = max(now, next)
            if arrival <= now {
                let first = arrivals.removeLast()
                guard let input = try? received(first.frame) else { continue }
                handle(first.side, input)
            } else {
                handle(deadlines[0] <= deadlines[1] ? 0 : 1, .deadlineReached)
            }
        }
        return false
    }

    private mutating func send(_ frame: [UInt8], to side: Int) {
        frameCount += 1
        longestFrame = max(longestFrame, frame.count)
        if isCut { return }
        let copies = Double.random(in: 0..<1, using: &generator) < faults.duplication ? 2 : 1
        for _ in 0..<copies where Double.random(in: 0..<1, using: &generator) >= faults.loss {
            let jitter = generator.duration(in: .zero..<faults.jitter)
            let arrival = Arrival(at: now + faults.delay + jitter, side: side, frame: frame)
            // Latest first; of equal ones the one sent first comes first.
            var low = 0
            var high = arrivals.count
            while low < high {
                let middle = (low + high) / 2
                if arrivals[middle].at > arrival.at { low = middle + 1 } else { high = middle }
            }
            arrivals.insert(arrival, at: low)
        }
    }
}

/// Bytes that tell their place.
func testMessage(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
}

/// A whole frame, as it comes out of its seal.
func received(_ frame: [UInt8]) throws(Frame.Refusal) -> SessionMachine.Input {
    guard case .endToEnd(let frame) = try Frame(parsing: frame[...]) else { throw .unknownKind }
    return .received(frame)
}
