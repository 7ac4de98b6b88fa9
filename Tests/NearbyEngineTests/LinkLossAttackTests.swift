import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Two sides of a link: what is lost, who answers, and how often each wakes.
private struct AttackedLink {
    var sides: [LivenessMachine]
    var sent = [0, 0]
    var wakes = [0, 0]
    var idleWakes = [0, 0]
    var suspectedAt: [Instant?] = [nil, nil]
    var suspicions = [0, 0]
    var isLost = [false, false]
    var most = [0, 0]
    var now = Instant.zero
    private var underWay: [(at: Instant, to: Int, payload: [UInt8])] = []
    private var random: SeededGenerator
    var loss: Double
    var latency = Duration.milliseconds(2)
    var drops: (Int, [UInt8]) -> Bool = { _, _ in false }

    static let data: [UInt8] = [FrameKind.packet.rawValue]

    init(_ linkClass: LinkClass, loss: Double, seed: UInt64) {
        self.loss = loss
        random = SeededGenerator(seed: seed)
        sides = (0..<2).map {
            LivenessMachine(linkClass: linkClass, seed: seed + UInt64($0), now: .zero)
        }
    }

    mutating func run(for time: Duration, every: [Duration?] = [nil, nil]) {
        let end = now + time
        var dataAt = every.map { interval in interval.map { now + $0 } }
        while now < end {
            let deadlines = sides.indices.map {
                isLost[$0] ? .distantFuture : sides[$0].nextDeadline ?? .distantFuture
            }
            let next = dataAt.compactMap { $0 } + [underWay.first?.at].compactMap { $0 } + deadlines
            now = max(now, next.min() ?? .distantFuture)
            if now >= end { now = end; break }
            if let side = dataAt.indices.first(where: { dataAt[$0] ?? .distantFuture <= now }) {
                send(Self.data, from: side, now)
                dataAt[side] = now + every[side]!
            } else if let first = underWay.first, first.at <= now {
                underWay.removeFirst()
                deliver(first.payload, to: first.to, now)
            } else if let side = sides.indices.first(where: { deadlines[$0] <= now }) {
                wakes[side] += 1
                if !feed(.deadlineReached, side, now) { idleWakes[side] += 1 }
            }
        }
    }

    private mutating func deliver(_ payload: [UInt8], to side: Int, _ now: Instant) {
        if payload.first == FrameKind.liveness.rawValue,
            let frame = try? LivenessFrame(parsing: payload[1...])
        {
            feed(.received(frame), side, now)
        } else {
            feed(.frameReceived(isData: payload == Self.data), side, now)
        }
    }

    @discardableResult
    private mutating func feed(_ input: LivenessMachine.Input, _ side: Int, _ now: Instant) -> Bool
    {
        var isAny = false
        for output in sides[side].handle(input, now: now) {
            isAny = true
            switch output {
            case .send(let payload): send(payload, from: side, now)
            case .suspected:
                suspectedAt[side] = suspectedAt[side] ?? now
                suspicions[side] += 1
            case .lost: isLost[side] = true
            case .costChanged: break
            }
        }
        return isAny
    }

    private mutating func send(_ payload: [UInt8], from side: Int, _ now: Instant) {
        sent[side] += 1
        let isLost = Double.random(in: 0..<1, using: &random) < loss || drops(side, payload)
        if !isLost { underWay.append((now + latency, 1 - side, payload)) }
        _ = sides[side].handle(.frameSent(isData: payload == Self.data), now: now)
    }
}

/// What breaks the measure of a link over Wi-Fi.
struct LinkLossAttackTests {
    private static func percents(
        _ loss: Double, every: Int64, latency: Int64 = 2
    ) -> [Int] {
        (1...8 as ClosedRange<UInt64>).map { seed in
            var link = AttackedLink(.wifi, loss: 0, seed: seed)
            link.latency = .milliseconds(latency)
            link.run(for: .seconds(30), every: [.seconds(1), nil])
            link.loss = loss
            link.run(for: .seconds(60), every: [.milliseconds(every), nil])
            return link.sides[0].lossPercent
        }
    }

    /// A good link became a bad one while much is sent: three of four questions find no answer. Who
    /// does not answer data is probed, and that must not put off the next question for ever.
    @Test(arguments: [20, 100] as [Int64])
    func aBusyLinkThatBecameBadIsFoundOut(_ every: Int64) {
        let found = Self.percents(0.5, every: every)
        #expect(found.reduce(0, +) / found.count >= 50, "\(found)")
    }

    /// Nothing is lost; each frame takes its time, as where a radio saves power.
    @Test(arguments: [100, 300, 1_000] as [Int64], [40, 60, 80] as [Int64])
    func aSlowLinkIsNoLossyOne(_ every: Int64, _ latency: Int64) {
        let found = Self.percents(0, every: every, latency: latency)
        // One of eight may begin with an answer that belongs to another question.
        #expect(found.reduce(0, +) / found.count <= 5, "\(found)")
        #expect(found.count { $0 > 5 } <= 1, "\(found)")
    }

    /// Whatever comes, and whenever: deadlines lie ahead after a few turns, and nothing traps.
    @Test func fuzz() {
        for linkClass in [LinkClass.wifi, .ethernet, .bluetooth] {
            for seed in 1...300 as ClosedRange<UInt64> {
                var random = SeededGenerator(seed: seed)
                var machine = LivenessMachine(linkClass: linkClass, seed: seed, now: .zero)
                var now = Instant.zero
                let bias = Int.random(in: 0..<10, using: &random)
                for _ in 0..<3_000 {
                    let step = Int64(
                        [0, 1, 14, 15, 50, 100, 101, 150, 1_000][
                            Int.random(in: 0..<9, using: &random)])
                    let to = now + .milliseconds(step)
                    // Late or in time.
                    if Bool.random(using: &random) {
                        var turns = 0
                        while let due = machine.nextDeadline, due <= to {
                            now = max(now, due)
                            var here = 0
                            while let due = machine.nextDeadline, due <= now {
                                let outputs = machine.handle(.deadlineReached, now: now)
                                here += 1
                                if outputs.contains(.lost) {
                                    _ = machine.handle(.received(.answer), now: now)
                                }
                                if here > 4 {
                                    Issue.record("spins \(linkClass) seed \(seed)"); return
                                }
                            }
                            turns += 1
                            if turns > 1_000 {
                                Issue.record("spins far \(linkClass) seed \(seed)"); return
                            }
                        }
                    }
                    now = max(now, to)
                    let kind = Int.random(in: 0..<10, using: &random)
                    switch kind < 6 ? kind : bias {
                    case 0: _ = machine.handle(.frameSent(isData: true), now: now)
                    case 1: _ = machine.handle(.frameSent(isData: false), now: now)
                    case 2: _ = machine.handle(.frameReceived(isData: true), now: now)
                    case 3, 6: _ = machine.handle(.received(.probe), now: now)
                    case 4, 7: _ = machine.handle(.received(.answer), now: now)
                    case 5: _ = machine.handle(.received(.hello), now: now)
                    case 8: _ = machine.handle(.unreachable, now: now)
                    default: _ = machine.handle(.frameReceived(isData: false), now: now)
                    }
                    _ = machine.cost
                    #expect(0...100 ~= machine.lossPercent)
                }
            }
        }
    }
}
