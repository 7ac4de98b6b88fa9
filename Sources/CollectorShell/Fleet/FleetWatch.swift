import CollectorComposition
import Fleet
import NearbyCore
import NearbyEngine
import NearbyLinux
import NodeShell

/// How the network looks from here: follows what the collector hears, and hangs a snapshot on the
/// board once a second while somebody looks.
final class FleetWatch {
    private let board: FleetBoard
    /// What others know; asked for each snapshot.
    var outputs: () -> [OutputStatus] = { [] }
    var alarms: () -> [FleetAlarm] = { [] }
    /// Of all that stands above the node.
    var drops: () -> DropCounters = { DropCounters() }
    /// Called with the links now and then, as far as they are surveyed, and with the time by UTC,
    /// nanoseconds.
    var onLinks: (([FleetLink], Int64) -> Void)?
    private unowned let program: NodeProgram
    private unowned let collector: CollectorNode
    private(set) var words: FleetWords
    private var ledger: FleetLedger
    private let mesh: MeshWatch
    /// Nil without a store.
    private let recall: FleetRecall?
    private var storeSize: StoreSize?
    private var pages = FleetPages()
    private var timer: EventLoop.TimerID?

    /// Channels for which there was no room on the page.
    var hiddenChannelCount: UInt64 { ledger.hiddenChannelCount }

    /// - Parameter storePath: nil for a viewer, which surveys nothing.
    init(
        _ program: NodeProgram, _ collector: CollectorNode, _ board: FleetBoard,
        words: FleetWords, storePath: String?
    ) throws(SystemError) {
        self.board = board
        self.program = program
        self.collector = collector
        self.words = words
        ledger = FleetLedger(words: words)
        mesh = MeshWatch(program.runner, isSurveyed: storePath != nil)
        storeSize = storePath.map(StoreSize.init)
        recall = try storePath.map { path throws(SystemError) in try FleetRecall(path: path) }
    }

    func start(_ now: Instant) throws(SystemError) {
        if let recall {
            try program.loop.register(recall.answers) { [unowned self] in recalled($0) }
        }
        program.answerRequests { [unowned self] in
            pages.answer($0) { snapshot(MonotonicClock.now()) }
        }
        let timer = program.loop.addTimer { [unowned self] in tick($0) }
        self.timer = timer
        program.loop.set(timer, to: now + Self.interval)
    }

    func change(words: FleetWords) {
        self.words = words
        warn(ledger.change(words: words))
        // Nobody is to go by the former words any more.
        board.publish(snapshot(MonotonicClock.now()))
    }

    /// The store is asked, once, who was heard before this start.
    func storeOpened() { recall?.begin() }

    private func recalled(_ answer: FleetRecall.Answer) {
        switch answer {
        case .nodes(let nodes): warn(ledger.recall(nodes))
        case .fault(let fault): program.log.write(.warning, "store: \(fault)")
        }
    }

    // MARK: What happens

    func note(_ event: CollectorNode.Event, _ now: Instant) {
        switch event {
        case .accepted(let delivery): ledger.apply(delivery, unixOffset: collector.shownOffset)
        case .born(let peer, let birth): warn(ledger.apply(birth, of: peer, now: now))
        case .window, .windowsFull, .diagnostic, .said, .dropped, .storeFailed, .storeWorks,
            .storeDiagnostic:
            break
        }
    }

    func note(_ event: Node.Event, _ now: Instant) { mesh.note(event, now) }

    private func tick(_ now: Instant) {
        if let timer { program.loop.set(timer, to: now + Self.interval) }
        mesh.tick(now)
        if let links = mesh.linksToRecord(now) { onLinks?(links, utc(now)) }
        if board.isWanted() { board.publish(snapshot(now)) }
    }

    private static let interval = Duration.seconds(1)

    private func warn(_ faults: [String]) {
        for fault in faults { program.log.write(.warning, fault) }
    }

    // MARK: How it looks

    /// Those that were heard before this start only, for the status.
    func formerNodes(where isMeant: (PeerID) -> Bool) -> [FormerNode] {
        let now = MonotonicClock.now()
        return ledger.recalledNodes(utc: utc(now), now)
            .filter { isMeant($0.peer) }.map(FormerNode.init)
    }

    private func snapshot(_ now: Instant) -> FleetSnapshot {
        let links = mesh.links
        var snapshot = ledger.snapshot(of: own(now), sightings(links, now), now: now)
        snapshot.links = links
        snapshot.outputs = outputs()
        snapshot.alarms = alarms()
        return snapshot
    }

    private func sightings(_ links: [FleetLink], _ now: Instant) -> [FleetSighting] {
        var kinds: [PeerID: String] = [:]
        for link in links { kinds[link.to] = link.link }
        return program.runner.node.knownNodes.map {
            FleetSighting(
                $0, name: program.runner.knownName(of: $0.peer), link: kinds[$0.peer] ?? "",
                now: now)
        }
    }

    private func own(_ now: Instant) -> FleetCollector {
        var own = FleetCollector()
        let settings = program.settings
        own.peer = program.runner.node.ownPeer
        (own.name, own.network) = (settings.name, settings.network)
        own.version = ProgramVersion.text
        own.utc = utc(now)
        own.uptime = program.uptime(now)
        own.uncommittedCount = collector.machine.uncommittedCount
        own.storeFault = collector.storeFault
        own.storeBytes = storeSize?.byteCount(now)
        var drops = program.allDrops
        drops.add(self.drops())
        own.drops = drops.all.filter { $0.count > 0 }
            .map { FleetCount(reason: $0.reason.rawValue, count: $0.count) }
            .sorted { $0.reason < $1.reason }
        return own
    }

    /// Nanoseconds.
    private func utc(_ now: Instant) -> Int64 { (now + collector.shownOffset).nanoseconds }
}
