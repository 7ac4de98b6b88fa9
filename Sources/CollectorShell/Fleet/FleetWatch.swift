import Collector
import CollectorComposition
import Fleet
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import NodeShell
import Telemetry

/// How the network looks from here: follows what the collector hears, surveys the mesh, and hangs a
/// snapshot on the board once a second while somebody looks.
final class FleetWatch {
    let board: FleetBoard
    /// What others know; asked for each snapshot.
    var outputs: () -> [OutputStatus] = { [] }
    var alarms: () -> [FleetAlarm] = { [] }
    /// Of all that stands above the node.
    var drops: () -> DropCounters = { DropCounters() }
    /// Called with the links now and then, as far as they are surveyed, and with the time by UTC,
    /// nanoseconds.
    var onLinks: (([FleetLink], Int64) -> Void)?
    unowned let program: NodeProgram
    private unowned let collector: CollectorNode
    private let storePath: String?
    private(set) var words: FleetWords
    private var ledger: FleetLedger
    /// Nil where nobody would see what it finds.
    private var survey: MeshSurvey?
    private var pages = FleetPages()
    private var timer: EventLoop.TimerID?
    private var nextRecord: Instant?
    private var storeBytes: (count: UInt64, until: Instant)?

    /// Channels for which there was no room on the page.
    var hiddenChannelCount: UInt64 { ledger.hiddenChannelCount }

    /// - Parameter storePath: nil for a viewer, which surveys nothing.
    init(
        _ program: NodeProgram, _ collector: CollectorNode, _ board: FleetBoard,
        words: FleetWords, storePath: String?
    ) {
        self.board = board
        self.program = program
        self.collector = collector
        self.storePath = storePath
        self.words = words
        ledger = FleetLedger(words: words)
        survey = storePath == nil ? nil : MeshSurvey(seed: systemRandom())
    }

    func start(_ now: Instant) {
        program.answerRequests { [unowned self] in answer($0) }
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

    /// The store has been asked who was heard before this start.
    func recall(_ answer: FleetRecall.Answer) {
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

    func note(_ event: Node.Event, _ now: Instant) {
        guard case .echo(let answer, let sender, let hops, _) = event else { return }
        carryOut(
            survey?.handle(
                .answered(
                    token: answer.token, from: sender, hops: hops, link: answer.link?.word ?? "",
                    lossPercent: answer.lossPercent.map(Double.init)),
                now: now), now)
    }

    private func tick(_ now: Instant) {
        if let timer { program.loop.set(timer, to: now + Self.interval) }
        carryOut(survey?.handle(.network(view), now: now), now)
        if let survey, survey.nextDeadline ?? .distantFuture <= now {
            carryOut(self.survey?.handle(.deadlineReached, now: now), now)
        }
        record(now)
        if board.isWanted() { board.publish(snapshot(now)) }
    }

    /// Not before the first survey had time: what it does not know yet is no change.
    private func record(_ now: Instant) {
        guard survey != nil else { return }
        let due = nextRecord ?? now + Self.recordInterval
        nextRecord = due
        guard due <= now else { return }
        nextRecord = now + Self.recordInterval
        onLinks?(links, (now + collector.shownOffset).nanoseconds)
    }

    private static let interval = Duration.seconds(1)
    private static let recordInterval = Duration.seconds(10)

    private func carryOut(_ outputs: [MeshSurvey.Output]?, _ now: Instant) {
        for case .ask(let token, let peer, let limit) in outputs ?? [] {
            program.runner.handle(.echo(token: token, to: peer, hopLimit: limit), at: now)
        }
    }

    private func warn(_ faults: [String]) {
        for fault in faults { program.log.write(.warning, fault) }
    }

    // MARK: How it looks

    /// Those that were heard before this start only, for the status.
    func formerNodes(where isMeant: (PeerID) -> Bool) -> [FormerNode] {
        let now = MonotonicClock.now()
        return ledger.recalledNodes(utc: (now + collector.shownOffset).nanoseconds, now)
            .filter { isMeant($0.peer) }.map(FormerNode.init)
    }

    /// A request of the control socket; nil: none of ours.
    private func answer(_ request: String) -> [String]? {
        let words = request.split(separator: " ")
        guard words.first == "fleet", words.count <= 2 else { return nil }
        guard let place = words.count == 1 ? 0 : Int(words[1]), place >= 0 else {
            return ["error fleet [NODES TO SKIP]"]
        }
        return [pages.page(from: place) { snapshot(MonotonicClock.now()) }]
    }

    func snapshot(_ now: Instant) -> FleetSnapshot {
        let links = links
        var snapshot = ledger.snapshot(of: own(now), sightings(links, now), now: now)
        snapshot.links = links
        snapshot.outputs = outputs()
        snapshot.alarms = alarms()
        return snapshot
    }

    private var links: [FleetLink] {
        survey?.links ?? MeshSurvey.links(of: view)
    }

    private func own(_ now: Instant) -> FleetCollector {
        var own = FleetCollector()
        let settings = program.settings
        own.peer = program.runner.node.ownPeer
        (own.name, own.network) = (settings.name, settings.network)
        own.version = ProgramVersion.text
        own.utc = (now + collector.shownOffset).nanoseconds
        own.uptime = program.uptime(now)
        own.uncommittedCount = collector.machine.uncommittedCount
        own.storeFault = collector.storeFault
        own.storeBytes = storeBytes(now)
        var drops = program.allDrops
        drops.add(self.drops())
        own.drops = drops.all.filter { $0.count > 0 }
            .map { FleetCount(reason: $0.reason.rawValue, count: $0.count) }
            .sorted { $0.reason < $1.reason }
        return own
    }

    /// Asked once in ten seconds.
    private func storeBytes(_ now: Instant) -> UInt64? {
        guard let storePath else { return nil }
        if let storeBytes, now < storeBytes.until { return storeBytes.count }
        let sizes = ["", "-wal"].map { suffix -> UInt64 in
            var status = stat()
            return stat(storePath + suffix, &status) == 0 ? UInt64(max(status.st_size, 0)) : 0
        }
        storeBytes = (sizes[0] &+ sizes[1], now + .seconds(10))
        return storeBytes?.count
    }
}
