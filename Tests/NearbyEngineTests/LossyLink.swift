import NearbyCore
import NearbyWire

@testable import NearbyEngine

/// Two sides of one link that loses each frame with the same probability, for tests of what they
/// make of it.
struct LossyLink {
    var sides: [LivenessMachine]
    var loss: Double
    /// From one side to the other.
    var latency = Duration.milliseconds(2)
    private(set) var sent = [0, 0]
    private var areLost = [false, false]
    private var now = Instant.zero
    private var underWay: [(at: Instant, to: Int, payload: [UInt8])] = []
    private var random: SeededGenerator

    private static let data: [UInt8] = [FrameKind.packet.rawValue]

    init(_ linkClass: LinkClass, loss: Double, isDoubted: Bool = false, seed: UInt64) {
        self.loss = loss
        random = SeededGenerator(seed: seed)
        sides = (0..<2).map {
            LivenessMachine(
                linkClass: linkClass, isDoubted: isDoubted, seed: seed + UInt64($0), now: .zero)
        }
    }

    /// - Parameter every: between two frames with data of the first side.
    mutating func run(for time: Duration, every: Duration? = nil) {
        let end = now + time
        var dataAt = every.map { now + $0 }
        while true {
            let deadlines = sides.indices.map {
                areLost[$0] ? .distantFuture : sides[$0].nextDeadline ?? .distantFuture
            }
            let next = [dataAt, underWay.first?.at].compactMap { $0 } + deadlines
            now = min(max(now, next.min() ?? end), end)
            guard now < end else { return }
            if let due = dataAt, let every, due <= now {
                send(Self.data, from: 0)
                dataAt = due + every
            } else if let first = underWay.first, first.at <= now {
                underWay.removeFirst()
                deliver(first.payload, to: first.to)
            } else if let side = sides.indices.first(where: { deadlines[$0] <= now }) {
                feed(.deadlineReached, side)
            }
        }
    }

    private mutating func deliver(_ payload: [UInt8], to side: Int) {
        if payload.first == FrameKind.liveness.rawValue,
            let frame = try? LivenessFrame(parsing: payload[1...])
        {
            feed(.received(frame), side)
        } else {
            feed(.frameReceived(isData: payload == Self.data), side)
        }
    }

    private mutating func feed(_ input: LivenessMachine.Input, _ side: Int) {
        for output in sides[side].handle(input, now: now) {
            switch output {
            case .send(let payload): send(payload, from: side)
            case .lost: areLost[side] = true
            case .suspected, .costChanged: break
            }
        }
    }

    private mutating func send(_ payload: [UInt8], from side: Int) {
        sent[side] += 1
        let isLost = Double.random(in: 0..<1, using: &random) < loss
        if !isLost { underWay.append((now + latency, 1 - side, payload)) }
        _ = sides[side].handle(.frameSent(isData: payload == Self.data), now: now)
    }
}
