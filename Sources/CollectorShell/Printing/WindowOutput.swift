import Collector
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell

/// Windows on standard output: a screen on a terminal, else tables, JSON or CSV.
///
/// While nobody reads, a screen keeps its newest picture only; other windows are queued as long as
/// there is room, then left out and counted.
final class WindowOutput {
    private let options: CollectOptions
    /// What nodes and channels are called here.
    private var windows: ShownWindows
    /// Nil unless tables go to a terminal.
    private var screen: CollectorScreen?
    private var table: TablePrinter
    private var csv = CSVPrinter()
    private let writer: PrintThread
    private let log: StandardErrorLog
    /// Windows, and lines of the log among them, that were left out.
    private(set) var droppedCount: UInt64 = 0
    /// How many of them the log was told of.
    private var toldCount: UInt64 = 0
    private var filter: WindowFilter
    /// The one window that was asked for is printed.
    private(set) var isDone = false

    /// - Parameters:
    ///   - title: of the screen: who this is.
    ///   - width: of a window.
    init(
        _ options: CollectOptions, words: FleetWords, title: String, width: Duration,
        writer: PrintThread, log: StandardErrorLog
    ) {
        self.options = options
        filter = WindowFilter(nodes: options.nodes, channels: options.channels)
        self.writer = writer
        self.log = log
        windows = ShownWindows(words: options.raw ? .none : words)
        let settings = options.tableSettings
        table = TablePrinter(settings: settings)
        if options.hasScreen {
            screen = CollectorScreen(title: title, width: width, settings: settings)
        }
    }

    /// Whether a second that passes is to be told with `.tick`.
    var needsTicks: Bool { screen?.needsTicks ?? false }

    /// From now on, stops the loop when standard output cannot be written any more.
    func open(_ loop: EventLoop) throws(SystemError) {
        try loop.register(writer.news) { [unowned self, unowned loop] in
            switch $0 {
            case .resumed: tellDropped()
            case .failed: loop.stop()
            }
        }
    }

    /// Returns what there was to show; nil also where it was left out.
    ///
    /// - Parameter unixOffset: added to our clock gives UTC.
    func show(_ window: Window, unixOffset: Duration, now: Instant) -> Window? {
        guard !isDone else { return nil }
        var clock = ShownClock(unixOffset: unixOffset)
        if !options.utc { clock.zone = .local(at: window.start + unixOffset) }
        let shown = shown(window, clock, now)
        isDone = options.once && shown?.hasReadings == true
        return shown
    }

    private func shown(_ window: Window, _ clock: ShownClock, _ now: Instant) -> Window? {
        let whole = windows.shown(window)
        let window = filter.shown(whole)
        if let warning = filter.warning(on: whole, shown: window) { log.write(.warning, warning) }
        guard !window.rows.isEmpty else { return nil }
        guard screen == nil else {
            tell(.window(window, clock), now)
            return window
        }
        let isTaken =
            switch options.format {
            case .table: write(table.print(window, clock: clock))
            case .json: write(JSONPrinter().print(window, clock: clock))
            case .csv: write(csv.print(window, clock: clock))
            case .none: true
            }
        return isTaken ? window : nil
    }

    /// What the screen shows beside tables.
    func tell(_ event: CollectorScreen.Event, _ now: Instant) {
        guard let picture = screen?.handle(event, now: now), !picture.isEmpty else { return }
        writer.postNewest(picture)
    }

    /// A line of the log, where that goes the same way.
    func add(line: String) { if !writer.post(line + "\n") { droppedCount += 1 } }

    /// The configuration was read again.
    func change(words: FleetWords) {
        if !options.raw { windows.words = words }
    }

    /// The terminal has another size.
    func resize(_ now: Instant) {
        let size = Terminal.size
        guard size.columns > 0, size.lines > 0 else { return }
        tell(.resized(columns: size.columns, lines: size.lines), now)
    }

    /// Waits until all is written; after a signal that ends the program, so long at most. Returns
    /// whether nothing waits any more.
    func finish(patience: Duration = .seconds(2), isInterrupted: () -> Bool) -> Bool {
        if let warning = filter.lastWarning() { log.write(.warning, warning) }
        guard writer.finish(patience: patience, isUrgent: isInterrupted) else {
            if !writer.isStandardError {
                log.write(.warning, "nobody reads standard output: what was waiting for it is lost")
            }
            return false
        }
        // Where it failed, nobody reads again.
        if writer.fault == nil { tellDropped() }
        return true
    }

    /// Why nothing can be written any more. That a reader went away is no fault: there is nobody
    /// to collect for.
    var fault: StartError? {
        guard let code = writer.fault, code != EPIPE else { return nil }
        let text = String(cString: strerror(code))
        return StartError("standard output: \(text): nothing more is collected", .inputOutput)
    }

    /// False if it was left out.
    private func write(_ text: String) -> Bool {
        guard !writer.post(text) else { return true }
        if droppedCount == toldCount, !writer.isStandardError {
            log.write(
                .warning, "nobody reads standard output: windows are left out until somebody does")
        }
        droppedCount += 1
        return false
    }

    private func tellDropped() {
        let count = droppedCount - toldCount
        guard count > 0 else { return }
        toldCount = droppedCount
        let texts = count == 1 ? "1 window or line was" : "\(count) windows or lines were"
        log.write(.warning, "standard output is read again: \(texts) left out")
    }
}
