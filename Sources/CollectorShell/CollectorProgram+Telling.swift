import Collector
import CollectorComposition
import Fleet
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import NodeShell
import Store

/// What the log, the screen and `rivulet status` say of a collector beside its node.
extension CollectorProgram {
    func tell(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .peer(let peer, .connected):
            output.tell(.connected(peer, name: name(of: peer)), now)
        case .peer(let peer, .notConnected): output.tell(.disconnected(peer), now)
        case .peer, .collector, .viewers, .message, .application, .diagnostic, .echo: break
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
            let name = words.name(of: peer, named: birth.node.name)
            output.tell(.birth(peer, name: name, channelCount: count), now)
        case .windowsFull(let peer, let node):
            log.write(
                .warning,
                "\(node.name) (\(peer)) has more channels than one agent's share of windows: "
                    + "the rest is stored and not shown (collector.series-per-agent)")
        case .diagnostic(let diagnostic): log.write(.warning, diagnostic.text(program.runner))
        case .dropped(let reason, let count):
            log.write(.debug, "dropped \(count): \(reason.rawValue)")
        case .storeFailed(let fault):
            log.write(
                .error,
                "\(fault); until the store works, agents get no receipts and keep their readings")
        case .storeWorks: log.write(.diagnostic, "the store works again")
        case .storeDiagnostic(let diagnostic): log.write(.warning, diagnostic)
        case .window, .said: break
        }
    }

    func tellStatus() {
        program.additions.details = { [unowned self] in statusDetails }
        program.additions.summary = { [unowned self] in
            "store      \(storeState), \(collector.machine.uncommittedCount) readings not "
                + "committed yet"
        }
        program.additions.formerNodes = { [unowned self] in fleet.formerNodes(where: $0) }
        program.additions.lines = { [unowned self] in outputStatuses.map(OutputLine.text) }
    }

    private func name(of peer: PeerID) -> String {
        node.name(of: peer).map { words.name(of: peer, named: $0) }
            ?? String(peer.description.prefix(11))
    }

    private func trace(_ delivery: Delivery) {
        let time = WallClock.read().unixNanoseconds
        screen.trace("report \(time) \(delivery.birth.node.name) \(delivery.readings.count)")
    }

    private var words: FleetWords { options.raw ? .none : fleet.words }

    /// Above the node: of the readings, of what is shown, of the alarms.
    var drops: DropCounters {
        var drops = collector.drops
        drops.count(.fleetChannelTableFull, fleet.hiddenChannelCount)
        drops.count(.alarmTableFull, alarms.overflowCount)
        drops.count(.standardOutputFull, output.droppedCount)
        return drops
    }

    /// How the outputs fare.
    var outputStatuses: [OutputStatus] { storage?.outputStatuses ?? [] }

    private var storeState: String { storage == nil ? "none" : collector.storeFault ?? "good" }

    private var statusDetails: [(String, JSONValue)] {
        let machine = collector.machine
        let holds = storage?.holds ?? Store.Holds()
        return [
            ("agents", .integer(machine.peerCount)),
            ("readings", .integer(collector.readingCount)),
            ("reportsHeld", .integer(machine.heldReportCount)),
            ("readingsUncommitted", .integer(machine.uncommittedCount)),
            ("queuedBytes", .integer(machine.queuedByteCount)),
            ("store", .text(storeState)),
            ("outputs", .array(outputStatuses.map { OutputLine.json($0, holds) })),
            (
                "collectorDrops",
                .object(
                    drops.all.filter { $0.count > 0 }
                        .sorted { $0.reason.rawValue < $1.reason.rawValue }
                        .map { ($0.reason.rawValue, .integer($0.count)) })
            ),
        ]
    }
}
