import Configuration
import Glibc
import NearbyCore
import NearbyDTLS
import NearbyLinux
import NodeShell

/// Agents by the hundred on one loop.
final class Crowd {
    private let loop: EventLoop
    private let signals: SignalSource
    private var members: [CrowdMember] = []
    private var started = Instant.zero
    private var timer: EventLoop.TimerID?
    private var shown = -1
    private let perSecond: Int
    private var startedCount = 0

    /// - Parameter perSecond: how many are started each second.
    init(
        _ settings: Settings, count: Int, channelCount: Int, period: Duration, perSecond: Int
    ) throws {
        self.perSecond = perSecond
        signals = try SignalSource()
        loop = try EventLoop()
        for number in 1...count {
            members.append(
                try CrowdMember(
                    settings, number: number, channelCount: channelCount, period: period,
                    loop: loop))
        }
    }

    func run(for limit: Duration?) throws {
        try loop.register(signals) { [unowned self] _ in loop.stop() }
        timer = loop.addTimer { [unowned self] in show($0) }
        started = MonotonicClock.now()
        if let timer { loop.set(timer, to: started) }
        try loop.run(until: limit.map { started + $0 } ?? .distantFuture)
        let readings = members.reduce(0) { $0 + $1.readingCount }
        let waiting = members.reduce(0) { $0 + $1.waitingCount }
        print("readings \(readings) waiting \(waiting)")
    }

    private func show(_ now: Instant) {
        let due = Int((now - started).nanoseconds / 1_000_000) * perSecond / 1_000 + 1
        while startedCount < min(due, members.count) {
            do {
                try members[startedCount].start()
            } catch {
                print("agent \(startedCount + 1): \(error)")
            }
            startedCount += 1
        }
        let connected = members.count { $0.hasCollector }
        if connected != shown {
            let time = (now - started).nanoseconds / 1_000_000
            print("connected \(connected) of \(members.count) after \(time) ms")
            fflush(nil)
            shown = connected
        }
        if let timer { loop.set(timer, to: now + .milliseconds(100)) }
    }
}
