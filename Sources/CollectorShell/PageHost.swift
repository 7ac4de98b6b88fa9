import CollectorConfiguration
import Configuration
import Fleet
import FleetPage
import NearbyCore
import NearbyLinux
import NodeShell

/// Keeps the collector's page there while the configuration asks for one. A page that cannot be
/// served stops nobody: it is tried again, and told of once.
final class PageHost {
    private unowned let program: NodeProgram
    private let board: FleetBoard
    private let store: String?
    private var settings: WebSettings?
    private var words: FleetWords
    private var page: FleetPage?
    private var fault: FleetPage.Fault?
    private var timer: EventLoop.TimerID?

    /// - Parameter store: the database; nil if there is none.
    init(
        _ program: NodeProgram, _ settings: WebSettings?, board: FleetBoard, store: String?,
        words: FleetWords
    ) {
        self.program = program
        self.board = board
        self.store = store
        self.settings = settings
        self.words = words
    }

    func start() {
        guard page == nil, let settings else { return }
        let new = FleetPage(
            settings, board: board, store: store,
            names: [program.settings.name, Settings.hostName], words: words)
        do throws(FleetPage.Fault) {
            try new.start()
            page = new
            fault = nil
            program.log.write(.information, "the page is at \(settings.address)")
        } catch {
            if error != fault { program.log.write(.error, "\(error); trying again") }
            fault = error
            tryAgain()
        }
    }

    /// The configuration was read again.
    func change(_ settings: WebSettings?, words: FleetWords) {
        self.words = words
        page?.change(words: words)
        guard settings != self.settings else { return }
        stop()
        self.settings = settings
        start()
    }

    func stop() {
        page?.stop()
        page = nil
    }

    private func tryAgain() {
        let timer = timer ?? program.loop.addTimer { [unowned self] _ in start() }
        self.timer = timer
        program.loop.set(timer, to: MonotonicClock.now() + Self.interval)
    }

    private static let interval = Duration.seconds(10)
}

extension WebSettings {
    /// As a browser wants it.
    var address: String {
        let host = bind.contains(":") ? "[\(bind)]" : bind
        return "\(tls == nil ? "http" : "https")://\(host):\(port)/"
    }
}
