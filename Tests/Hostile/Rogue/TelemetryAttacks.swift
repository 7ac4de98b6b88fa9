import NearbyCore
import NearbyLinux
import Telemetry

/// What a member does to a collector by telemetry.
enum TelemetryAttacks {
    /// Says that its clock is kept by satellites and shows `unix=`. With `readings=` it sends so
    /// many, one a message, measured `age=` seconds ago.
    static func clock(_ options: Options) throws {
        let member = try Member(options)
        var agent = try FalseAgent(run: member.channel.run, options)
        let channel = member.channel
        let count = try options.number("readings", or: 0)
        let age = Duration.seconds(try options.number("age", or: 0))
        let birth = try agent.birth(channels: FalseAgent.channels(1), MonotonicClock.now())
        channel.onMessage = { message, now in
            if let answer = agent.answer(to: message, now) { channel.sendUnreliable(answer, now) }
        }
        try member.attack { now in
            channel.sendReliable(birth, now)
            // Once the collector has asked for the time, which dates them.
            member.shell.after(.seconds(5)) { now in
                for _ in 0..<max(0, min(count, 1_000)) {
                    channel.sendUnreliable(agent.report(count: 1, age: age, now), now)
                }
            }
        }
    }

    /// Readings of one byte each, `rate=` bytes a second.
    static func readings(_ options: Options) throws {
        let member = try Member(options)
        var agent = try FalseAgent(run: member.channel.run, options)
        let channel = member.channel
        let rate = try options.rate()
        let birth = try agent.birth(channels: FalseAgent.channels(1), MonotonicClock.now())
        channel.onMessage = { message, now in
            if let answer = agent.answer(to: message, now) { channel.sendUnreliable(answer, now) }
        }
        try member.attack { now in
            channel.sendReliable(birth, now)
            member.shell.after(.seconds(1)) { _ in
                member.shell.flood(bytesPerSecond: rate) { now in
                    let report = agent.report(count: 900, now)
                    channel.sendUnreliable(report, now)
                    return report.count
                }
            }
        }
    }

    /// Seventeen messages at once: a report on a run whose birth the collector knows, but its store
    /// does not any more, and births of sixteen others, by which it is evicted. `phase=births`
    /// sends what goes before, in another life of the collector: the births of empty runs, which
    /// are swept.
    static func evict(_ options: Options) throws {
        let member = try Member(options)
        let channel = member.channel
        let name = options.text("name", or: "rogue")
        // The same runs for the same identity, whenever it comes.
        var agents = (1...32).map { FalseAgent(run: RunID(value: $0), name: name) }
        let births = try agents.map {
            try $0.birth(channels: FalseAgent.channels(1), MonotonicClock.now())
        }
        let isFirst = options.text("phase", or: "") == "births"
        try member.attack { now in
            if isFirst {
                for birth in births[..<16] { channel.sendUnreliable(birth, now) }
            } else {
                for index in 0..<15 {
                    channel.sendUnreliable(agents[index].report(count: 1, now), now)
                }
                for birth in births[16...] { channel.sendUnreliable(birth, now) }
            }
        }
    }

    /// Two births of 1,024 channels with long names, in turn, as fast as `rate=` allows.
    static func births(_ options: Options) throws {
        let member = try Member(options)
        let channel = member.channel
        let rate = try options.rate()
        let agent = try FalseAgent(run: channel.run, options)
        let births = try ["one", "two"].map { word in
            try agent.birth(
                channels: FalseAgent.channels(
                    1_024, name: word + String(repeating: "x", count: 50)),
                MonotonicClock.now())
        }
        var turn = 0
        try member.attack { _ in
            member.shell.flood(bytesPerSecond: rate) { now in
                guard channel.waitingByteCount < 400_000 else { return 0 }
                turn += 1
                channel.sendReliable(births[turn % 2], now)
                return births[0].count
            }
        }
        say("\(turn) births of \(births[0].count) bytes")
    }

    /// Runs of 1,024 channels each, with one reading of every channel: series for windows.
    static func series(_ options: Options) throws {
        let member = try Member(options)
        let channel = member.channel
        let rate = try options.rate()
        var sent = 0
        try member.attack { _ in
            member.shell.flood(bytesPerSecond: rate) { now in
                guard channel.waitingByteCount < 100_000, sent < 200 else { return 0 }
                sent += 1
                var agent = FalseAgent(run: RunID(value: randomNumber()), name: "rogue")
                guard let birth = try? agent.birth(channels: FalseAgent.channels(1_024), now) else {
                    return 0
                }
                channel.sendReliable(birth, now)
                var bytes = birth.count
                for first in stride(from: UInt16(1), through: 1_024, by: 128) {
                    let report = agent.report(channels: first...first + 127, now)
                    channel.sendReliable(report, now)
                    bytes += report.count
                }
                return bytes
            }
        }
        say("\(sent) runs of 1024 channels")
    }
}
