import BenchNode
import Configuration
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux

// latency send|seldom|flood|receive CONFIG COUNT [SECONDS [PRIORITY]]: a node that sends COUNT
// messages of 100 bytes to its collector, one a millisecond, one each ten milliseconds, or as many
// as it can; or one that receives them and prints
//
//     p50 p99 gap rate count
//
// the one-way times and the longest gap between two that came in microseconds, and how many came a
// second and in all. It ends after SECONDS, or 30. All must run on one machine: they share its
// clock.
//
// With a PRIORITY (fresh, reliable or bulk) the messages are load, of 101 bytes and in no figures.

/// How often a sender sends how many messages.
struct Pace {
    let burst: Int
    let pause: Duration

    static let named: [String: Pace] = [
        "send": Pace(burst: 1, pause: .milliseconds(1)),
        "seldom": Pace(burst: 1, pause: .milliseconds(10)),
        "flood": Pace(burst: 64, pause: .zero),
    ]
}

/// Sends or receives stamped messages over a node of its own.
final class Probe {
    private let node: BenchNode
    /// Nil: it receives.
    private let pace: Pace?
    private let count: Int
    private var collector: PeerID?
    private var sent = 0
    private let limit: Duration
    /// Nil: they are measured.
    private let loadPriority: Priority?
    /// Of the first two million.
    private var times: [Int64] = []
    private var received = 0
    private var arrivals: (first: Int64, last: Int64)?
    private var longestGap: Int64 = 0
    private var timer: EventLoop.TimerID?

    init(
        _ settings: Settings, pace: Pace?, count: Int, limit: Duration,
        loadPriority: Priority?
    ) throws {
        node = try BenchNode(settings, role: pace == nil ? .collector : .agent)
        self.pace = pace
        self.count = count
        self.limit = limit
        self.loadPriority = loadPriority
        node.onEvent = { [unowned self] in interpret($0, $1) }
        timer = node.loop.addTimer { [unowned self] in
            if let pace { send(pace, $0) } else { node.loop.stop() }
        }
    }

    func run() throws {
        try node.serve(for: limit)
        guard pace == nil, let arrivals, arrivals.last > arrivals.first else { return }
        let sorted = times.sorted()
        print(
            sorted[sorted.count / 2] / 1_000, sorted[sorted.count * 99 / 100] / 1_000,
            longestGap / 1_000,
            Int64(received) * 1_000_000_000 / (arrivals.last - arrivals.first), received)
    }

    private func interpret(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .collector(let peer):
            collector = peer
            if let timer, pace != nil, peer != nil { node.loop.set(timer, to: now + .seconds(1)) }
        case .message(let bytes, _, _, _) where pace == nil: receive(bytes)
        default: break
        }
    }

    private func send(_ pace: Pace, _ now: Instant) {
        guard let collector, let timer, sent < count else { return }
        sent += pace.burst
        let inputs = (0..<pace.burst).map { _ in
            var writer = ByteWriter(reserving: 100)
            writer.write(UInt64(bitPattern: MonotonicClock.now().nanoseconds))
            let rest = loadPriority == nil ? 92 : 93
            writer.write(contentsOf: [UInt8](repeating: 0x55, count: rest))
            return Node.Input.sendUnreliable(
                writer.bytes, to: collector, loadPriority ?? .fresh)
        }
        node.handle(inputs, now: now)
        node.loop.set(timer, to: now + pace.pause)
    }

    private func receive(_ bytes: [UInt8]) {
        let arrival = MonotonicClock.now().nanoseconds
        var reader = ByteReader(bytes)
        guard bytes.count == 100, let stamp = try? reader.readUInt64() else { return }
        received += 1
        if received <= 2_000_000 { times.append(arrival - Int64(bitPattern: stamp)) }
        if let last = arrivals?.last { longestGap = max(longestGap, arrival - last) }
        arrivals = (arrivals?.first ?? arrival, arrival)
        // What is lost does not keep it waiting.
        if let timer { node.loop.set(timer, to: MonotonicClock.now() + .seconds(2)) }
        if received >= count / 100 * 95 { node.loop.stop() }
    }
}

let arguments = CommandLine.arguments
let priorities: [String: Priority] = ["fresh": .fresh, "reliable": .reliable, "bulk": .bulk]
guard 4...6 ~= arguments.count, let count = Int(arguments[3]),
    let seconds = arguments.count >= 5 ? Int(arguments[4]) : 30,
    arguments.count < 6 || priorities[arguments[5]] != nil,
    arguments[1] == "receive" || Pace.named[arguments[1]] != nil,
    case .good(let settings) = Settings.load(arguments[2])
else {
    print("usage: latency send|seldom|flood|receive CONFIG COUNT [SECONDS [PRIORITY]]")
    exit(64)
}
do {
    try Probe(
        settings, pace: Pace.named[arguments[1]], count: count, limit: .seconds(seconds),
        loadPriority: arguments.count == 6 ? priorities[arguments[5]] : nil
    ).run()
} catch {
    print(error)
    exit(1)
}
