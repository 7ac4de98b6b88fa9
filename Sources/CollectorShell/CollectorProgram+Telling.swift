import Collector
import CollectorComposition
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import NodeShell

/// What the log, the screen and `rivulet status` say of a collector beside its node.
extension CollectorProgram {
    func tell(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .peer(let peer, .connected):
            output.tell(.connected(peer, name: name(of: peer)), now)
        case .peer(let peer, .notConnected): output.tell(.disconnected(peer), now)
        case .peer, .collector, .viewers, .message, .application, .notice, .echo: break
        }
    }

    func tell(_ event: CollectorNode.Event, _ now: Instant) {
        switch event {
        case .accepted(let delivery):
            if options.traces { trace(delivery) }
            log.write(
                .debug,
                "\(delivery.birth.node.name): \(delivery.readings.count) readings over "
                    + (delivery.hops == 1 ? "1 hop" : "\(delivery.hops) hops"))
            output.tell(.readings(delivery.peer, count: delivery.readings.count), now)
        case .born(let peer, let birth):
            let count = birth.channels.count
            log.write(
                .information,
                "\(birth.node.name) has \(count == 1 ? "1 channel" : "\(count) channels")")
            output.tell(.birth(peer, name: birth.node.name, channelCount: count), now)
        case .windowsFull(let peer, let node):
            log.write(
                .warning,
                "\(node.name) (\(peer)) has more channels than one agent's share of windows: "
                    + "the rest is stored and not shown (collector.series-per-agent)")
        case .notice(let notice): log.write(.warning, notice.text(program.runner))
        case .dropped(let reason, let count):
            log.write(.debug, "dropped \(count): \(reason.rawValue)")
        case .storeFailed(let fault):
            log.write(.error, "\(fault): no receipts are given, agents keep their readings")
        case .storeWorks: log.write(.notice, "the store works again")
        case .storeNotice(let notice): log.write(.warning, notice)
        case .window, .said: break
        }
    }

    func tellStatus() {
        program.statusDetails = { [unowned self] in statusDetails }
        program.summaryLine = { [unowned self] in
            "store      \(storeState), \(collector.machine.uncommittedCount) readings not "
                + "committed yet"
        }
    }

    private func name(of peer: PeerID) -> String {
        node.name(of: peer) ?? String(peer.description.prefix(11))
    }

    private func trace(_ delivery: Delivery) {
        let time = NearbyLinux.WallClock.read().unixNanoseconds
        let line = "report \(time) \(delivery.birth.node.name) \(delivery.readings.count)\n"
        var bytes = Array(line.utf8)
        _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
    }

    private var storeState: String { store == nil ? "none" : collector.storeFault ?? "good" }

    private var statusDetails: [(String, JSONValue)] {
        let machine = collector.machine
        return [
            ("agents", .integer(machine.peerCount)),
            ("readings", .integer(collector.readingCount)),
            ("reportsHeld", .integer(machine.heldReportCount)),
            ("readingsUncommitted", .integer(machine.uncommittedCount)),
            ("queuedBytes", .integer(machine.queuedByteCount)),
            ("store", .text(storeState)),
            (
                "collectorDrops",
                .object(
                    collector.drops.all.filter { $0.count > 0 }
                        .sorted { $0.reason.rawValue < $1.reason.rawValue }
                        .map { ($0.reason.rawValue, .integer($0.count)) })
            ),
        ]
    }
}
