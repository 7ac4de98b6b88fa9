import BenchNode
import Configuration
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux

// latency send|flood|receive CONFIG COUNT [SECONDS]: a node that sends COUNT messages of 100 bytes
// to its collector, one a millisecond or as many as it can; or one that receives them and prints
//
//     p50 p99 gap rate
//
// the one-way times and the longest gap between two that came in microseconds, and how many came a
// second. It ends after SECONDS, or 30. All must run on one machine: they share its clock.

/// Sends or receives stamped messages over a node of its own.
final class Probe {
    private let node: BenchNode
    private let isSender: Bool
    /// Messages a turn; turns of one are a millisecond apart.
    private let burst: Int
    private let count: Int
    private var collector: PeerID?
    private var sent = 0
    private let limit: Duration
    /// Of the first two million.
    private var times: [Int64] = []
    private var received = 0
    private var arrivals: (first: Int64, last: Int64)?
    private var longestGap: Int64 = 0
    private var timer: EventLoop.TimerID?

    init(
        _ settings: Settings, isSender: Bool, burst: Int, count: Int, limit: Duration
    ) throws {
        node = try BenchNode(settings, role: isSender ? .agent : .collector)
        self.isSender = isSender
        self.burst = burst
        self.count = count
        self.limit = limit
        node.onEvent = { [unowned self] in interpret($0, $1) }
        timer = node.loop.addTimer { [unowned self] in
            if isSender { send($0) } else { node.loop.stop() }
        }
    }

    func run() throws {
        try node.serve(for: limit)
        guard !isSender, let arrivals, arrivals.last > arrivals.first else { return }
        let sorted = times.sorted()
        print(
            sorted[sorted.count / 2] / 1_000, sorted[sorted.count * 99 / 100] / 1_000,
            longestGap / 1_000,
            Int64(received) * 1_000_000_000 / (arrivals.last - arrivals.first))
    }

    private func interpret(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .collector(let peer):
            collector = peer
            if let timer, isSender, peer != nil { node.loop.set(timer, to: now + .seconds(1)) }
        case .message(let bytes, _, _, _) where !isSender: receive(bytes)
        default: break
        }
    }

    private func send(_ now: Instant) {
        guard let collector, let timer, sent < count else { return }
        sent += burst
        let inputs = (0..<burst).map { _ in
            var writer = ByteWriter(reserving: 100)
            writer.write(UInt64(bitPattern: MonotonicClock.now().nanoseconds))
            writer.write(contentsOf: [UInt8](repeating: 0x55, count: 92))
            return Node.Input.sendUnreliable(writer.bytes, to: collector, .fresh)
        }
        node.handle(inputs, now: now)
        node.loop.set(timer, to: burst == 1 ? now + .milliseconds(1) : now)
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
guard 4...5 ~= arguments.count, let count = Int(arguments[3]),
    let seconds = arguments.count == 5 ? Int(arguments[4]) : 30,
    case .good(let settings) = Settings.load(arguments[2])
else {
    print("usage: latency send|flood|receive CONFIG COUNT [SECONDS]")
    exit(64)
}
do {
    let isFlood = arguments[1] == "flood"
    try Probe(
        settings, isSender: isFlood || arguments[1] == "send", burst: isFlood ? 64 : 1,
        count: count, limit: .seconds(seconds)
    ).run()
} catch {
    print(error)
    exit(1)
}
