import BenchNode
import Configuration
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import NodeShell
import Telemetry

// ingest CONFIG READINGS SECONDS: a node that floods its collector with reports of so many readings
// each, as fast as its processor can seal them, and prints how many reports it sent a second. What
// the collector took of them is asked of the collector.

/// An agent whose readings are made up.
final class Flood {
    private let node: BenchNode
    private let readings: Int
    private let run = RunID(value: systemRandom())
    private let settings: Settings
    /// What is not a report, to be sent in the next turn.
    private var waiting: [[UInt8]] = []
    private var target: PeerID?
    private var sequence: UInt64 = 1
    private var sent = 0
    private var began: Instant?
    private var timer: EventLoop.TimerID?

    init(_ settings: Settings, readings: Int) throws {
        node = try BenchNode(settings, role: .agent)
        self.readings = readings
        self.settings = settings
        node.onEvent = { [unowned self] in interpret($0, $1) }
        timer = node.loop.addTimer { [unowned self] in send($0) }
    }

    func start(for seconds: Int) throws {
        try node.serve(for: .seconds(seconds))
        guard let began else { return print("no collector") }
        let spent = (MonotonicClock.now() - began).nanoseconds
        print(Int64(sent) * 1_000_000_000 / max(spent, 1))
    }

    private func interpret(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .collector(let peer?): begin(with: peer, now)
        // One that stores nothing looks in, and is sent what others keep.
        case .viewers(let peers): if let peer = peers.first { begin(with: peer, now) }
        case .message(let bytes, _, _, _):
            guard case .timeExchange(.request(let asked))? = try? TelemetryMessage(parsing: bytes)
            else { return }
            let answer = TimeAnswer(
                asked: asked, received: now, answered: now, boot: boot, clock: Self.noClock)
            waiting.append(TelemetryMessage.timeExchange(.answer(answer)).bytes)
        default: break
        }
    }

    private let boot = BootID(high: systemRandom(), low: systemRandom())
    private static let noClock = ClockReading(rank: .none, unixOffset: .zero)

    private func begin(with peer: PeerID, _ now: Instant) {
        guard target == nil, let timer else { return }
        target = peer
        if let birth = birth(now) { waiting.append(birth) }
        node.loop.set(timer, to: now)
    }

    /// Nil where it cannot be said.
    private func birth(_ now: Instant) -> [UInt8]? {
        let channels = (1...UInt16(readings)).compactMap { number in
            ChannelDescription(name: "channel \(number)", unit: .celsius, scale: -2).map {
                Channel(number: number, description: $0)
            }
        }
        guard let description = try? NodeDescription(name: settings.name) else { return nil }
        let birth = Birth(
            number: 1, run: run, boot: boot, node: description, channels: channels, sent: now,
            clock: Self.noClock)
        return TelemetryMessage.birth(birth).bytes
    }

    private func send(_ now: Instant) {
        guard let target, let timer else { return }
        var messages = waiting
        waiting = []
        if let began, now >= began {
            messages += (0..<64).map { _ in nextReport(now) }
            sent += 64
        }
        // The birth is there before what needs it.
        began = began ?? now + .seconds(1)
        node.handle(messages.map { .sendUnreliable($0, to: target, .fresh) }, now: now)
        node.loop.set(timer, to: max(MonotonicClock.now(), began ?? now))
    }

    private func nextReport(_ now: Instant) -> [UInt8] {
        let milliseconds = now.nanoseconds / 1_000_000
        let entries = (0..<readings).map { index in
            Report.Entry(
                sequence: sequence + UInt64(index), channel: UInt16(index + 1),
                milliseconds: milliseconds, cell: .scaled(2_150 + Int64(sequence & 63)))
        }
        // What came before is not held: nobody asks for it again.
        defer { sequence += UInt64(readings) }
        let reference = BirthReference(run: run, number: 1)
        return Report(birth: reference, lowestHeld: sequence, entries: entries).bytes
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, case .good(let settings) = Settings.load(arguments[1]),
    let readings = Int(arguments[2]), 1...100 ~= readings,
    let seconds = Int(arguments[3]), 3...3_600 ~= seconds
else {
    print("usage: ingest CONFIG READINGS-A-REPORT SECONDS")
    exit(64)
}
do {
    try Flood(settings, readings: readings).start(for: seconds)
} catch {
    print(error)
    exit(1)
}
