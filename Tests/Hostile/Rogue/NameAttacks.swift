import NearbyCore
import NearbyLinux
import Telemetry

/// What a member calls itself and its channels, to do harm where the names are shown or stored.
enum NameAttacks {
    /// May be sent; harmful to a page, a database, a topic, a line protocol, a spreadsheet or a
    /// terminal that takes them as they are.
    private static let hostile = [
        "<script>alert(1)</script>", "'; DROP TABLE readings; --", "a/+/#", "a,b=c d\\",
        "=cmd|'/C calc'!A0", "../../etc/passwd", "{\"a\":1}", "%00%s%n", "x\u{9b}2Jx",
        "x\u{202e}gpj.exe", "x\u{2028}x", "\u{85}", "\u{301}\u{301}",
    ]

    /// Four bytes each, which no name may hold: a screen that is erased, a second line of a log,
    /// the end of a C string, no UTF-8.
    private static let refused: [[UInt8]] = [
        [0x1b, 0x5b, 0x32, 0x4a], [0x0a, 0x0d, 0x0a, 0x09], [0, 0, 0, 0], [0xff, 0xfe, 0xc0, 0x80],
    ]

    private static let placeholder = "ZZZZ"

    /// Births with channels so called, and a reading of each; then births in which the node, a
    /// label, the board or a channel has a name that is refused.
    static func names(_ options: Options) throws {
        let member = try Member(options)
        let channel = member.channel
        var agent = FalseAgent(run: channel.run, name: "<b>\u{9b}2J\u{202e}")
        channel.onMessage = { message, now in
            if let answer = agent.answer(to: message, now) { channel.sendUnreliable(answer, now) }
        }
        let channels = hostile.enumerated().compactMap { offset, name in
            ChannelDescription(name: name).map {
                Channel(number: UInt16(offset + 1), description: $0)
            }
        }
        let birth = try agent.birth(channels: channels, MonotonicClock.now())
        let bad = try refusedBirths(MonotonicClock.now())
        try member.attack { now in
            channel.sendReliable(birth, now)
            for birth in bad { channel.sendReliable(birth, now) }
            member.shell.every(.seconds(1)) { now in
                channel.sendReliable(agent.report(channels: 1...UInt16(channels.count), now), now)
            }
        }
        say("\(channels.count) hostile names, \(bad.count) births to be refused")
    }

    /// Each place for a name with each of the refused.
    private static func refusedBirths(_ now: Instant) throws -> [[UInt8]] {
        let nodes = [
            try NodeDescription(name: placeholder),
            try NodeDescription(name: "n", labels: [Label(key: "room", value: placeholder)]),
            try NodeDescription(name: "n", board: placeholder),
            try NodeDescription(name: "n"),
        ]
        var births: [[UInt8]] = []
        for (index, node) in nodes.enumerated() {
            let name = index == 3 ? placeholder : "fine"
            guard let description = ChannelDescription(name: name) else { continue }
            for bytes in refused {
                let birth = Birth(
                    number: 1, run: RunID(value: randomNumber()),
                    boot: BootID(high: randomNumber(), low: randomNumber()), node: node,
                    channels: [Channel(number: 1, description: description)], sent: now,
                    clock: ClockReading(rank: .none, unixOffset: .zero))
                births.append(patched(TelemetryMessage.birth(birth).bytes, with: bytes))
            }
        }
        return births
    }

    /// The bytes in place of the placeholder.
    private static func patched(_ message: [UInt8], with bytes: [UInt8]) -> [UInt8] {
        let wanted = Array(placeholder.utf8)
        var message = message
        for start in 0...(message.count - wanted.count)
        where Array(message[start..<start + wanted.count]) == wanted {
            message.replaceSubrange(start..<start + wanted.count, with: bytes)
        }
        return message
    }
}
