import NearbyCore
import NearbyWire
import Telemetry

/// What a member does by lying about ways through the mesh.
enum RoutingAttacks {
    /// Says again and again that `claim=` is next to it: with `seqno=`, at metric 0. And to whom it
    /// tells that, that it has heard of the same seqno of its own, and wants one above.
    ///
    /// With `squat=1` it is not that node but one whose PeerID begins alike.
    static func routing(_ options: Options) throws {
        let member = try Member(options)
        let channel = member.channel
        var claim = try options.peer("claim")
        if try options.number("squat", or: 0) == 1 {
            claim = PeerID(high: claim.high, low: ~claim.low)
        }
        let seqno = UInt32(truncatingIfNeeded: try options.number("seqno", or: 1))
        let kind = DestinationKind.allCases.first {
            "\($0)" == options.text("kind", or: "collector")
        }
        let update = RoutingMessage.RouteUpdate(
            destination: claim, seqno: seqno, metric: 0, kind: kind ?? .collector)
        try member.attack { _ in
            member.shell.every(.milliseconds(500)) { _ in
                var items: [RoutingMessage.Item] = [.update(update), .known(seqno: seqno)]
                if let peer = channel.peer {
                    items.append(.request(destination: peer, seqno: seqno, hopLimit: 64))
                }
                channel.announce(items)
            }
        }
    }

    /// Says that it is a collector, or what `kind=` says, and settles whatever it is sent. `role=`
    /// is how it is admitted.
    static func collector(_ options: Options) throws {
        let member = try Member(options)
        let channel = member.channel
        let kind = DestinationKind.allCases.first {
            "\($0)" == options.text("kind", or: "collector")
        }
        let update = RoutingMessage.RouteUpdate(
            destination: channel.identity.ownPeer, seqno: 1, metric: 0, kind: kind ?? .collector)
        var runs: [UInt32: RunID] = [:]
        var settled: [RunID: NumberRanges] = [:]
        var readingCount = 0
        var receiptCount = 0
        channel.onMessage = { message, now in
            switch try? TelemetryMessage(parsing: message) {
            case .birth(let birth): runs[birth.reference.runTag] = birth.run
            case .report(let report):
                readingCount += report.entries.count
                // An agent's readings have the run of its admission.
                let run = runs[report.birth.runTag] ?? channel.terms?.run
                guard let run, let last = report.entries.last?.sequence else { return }
                settled[run, default: NumberRanges()].insert(1..<last + 1)
                guard let all = settled[run], let receipt = Receipt(run: run, settled: all) else {
                    return
                }
                receiptCount += 1
                channel.sendUnreliable(TelemetryMessage.receipt(receipt).bytes, now)
            default: break
            }
        }
        try member.attack { _ in
            member.shell.every(.milliseconds(500)) { now in
                channel.announce([.update(update)])
                // Nor needs a receipt a report before it.
                guard let run = channel.terms?.run, readingCount == 0 else { return }
                var all = NumberRanges()
                all.insert(1..<1_000_000)
                guard let receipt = Receipt(run: run, settled: all) else { return }
                receiptCount += 1
                channel.sendUnreliable(TelemetryMessage.receipt(receipt).bytes, now)
            }
        }
        say("\(readingCount) readings, \(receiptCount) receipts")
    }

    /// Invents `count=` viewers beside itself, at most 700: nearer than any other, and with nobody
    /// behind them.
    static func viewers(_ options: Options) throws {
        let member = try Member(options)
        let channel = member.channel
        let count = max(1, min(700, try options.number("count", or: 60)))
        let ghosts = (0..<count).map { _ in PeerID(high: randomNumber(), low: randomNumber()) }
        var calls = 0
        channel.onPacket = { packet, _ in
            if ghosts.contains(where: { $0.short == packet.destination }) { calls += 1 }
        }
        try member.attack { _ in
            for first in stride(from: 0, to: ghosts.count, by: 20) {
                channel.announce(
                    ghosts[first..<min(first + 20, ghosts.count)].map {
                        .update(.init(destination: $0, seqno: 1, metric: 0, kind: .viewer))
                    })
            }
        }
        say("\(count) viewers invented, \(calls) packets for them")
    }

    /// Is admitted, and does nothing else.
    static func join(_ options: Options) throws {
        let member = try Member(options)
        try member.attack { _ in }
    }
}
