import Collector
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell

/// Windows on standard output: a screen on a terminal, else tables, JSON or CSV.
final class WindowOutput {
    private let options: CollectOptions
    /// What nodes and channels are called here.
    private var windows: ShownWindows
    /// Nil unless tables go to a terminal.
    private var screen: CollectorScreen?
    private var table: TablePrinter
    private var csv = CSVPrinter()
    /// Why standard output takes nothing any more.
    private(set) var fault: StartError?
    /// Called when nobody reads any more.
    var onEnd: (() -> Void)?

    /// - Parameters:
    ///   - title: of the screen: who this is.
    ///   - width: of a window.
    init(_ options: CollectOptions, words: FleetWords, title: String, width: Duration) {
        self.options = options
        windows = ShownWindows(words: options.raw ? .none : words)
        let size = Terminal.size
        var settings = TablePrinter.Settings(
            isLive: options.hasScreen, lines: options.hasScreen ? size.lines : 0)
        if options.hasScreen, size.columns > 0 { settings.width = size.columns }
        settings.hasColours =
            switch options.colour {
            case .auto: Terminal.takesColours
            case .always: true
            case .never: false
            }
        table = TablePrinter(settings: settings)
        if options.hasScreen {
            screen = CollectorScreen(title: title, width: width, settings: settings)
        }
    }

    /// Whether a second that passes is to be told with `.tick`.
    var needsTicks: Bool { screen?.needsTicks ?? false }

    /// Returns what there was to show.
    func show(_ window: Window, clock: ShownClock, now: Instant) -> Window? {
        let window = filtered(windows.shown(window))
        guard !window.rows.isEmpty else { return nil }
        switch options.format {
        case .table:
            if screen != nil {
                tell(.window(window, clock), now)
            } else {
                write(table.print(window, clock: clock))
            }
        case .json: write(JSONPrinter().print(window, clock: clock))
        case .csv: write(csv.print(window, clock: clock))
        case .none: break
        }
        return window
    }

    /// What the screen shows beside tables.
    func tell(_ event: CollectorScreen.Event, _ now: Instant) {
        if let text = screen?.handle(event, now: now) { write(text) }
    }

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

    private func filtered(_ window: Window) -> Window {
        guard !options.nodes.isEmpty || !options.channels.isEmpty else { return window }
        var window = window
        window.rows.removeAll {
            let isNode =
                options.nodes.allow($0.node.name) || options.nodes.allow($0.peer.description)
            return !isNode || !options.channels.allow($0.channel.name)
        }
        return window
    }

    /// Standard output may be a pipe whose reader went away: then there is nobody to collect for.
    /// Any other fault is told at the end.
    private func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                if errno != EPIPE {
                    let text = String(cString: strerror(errno))
                    fault = StartError(
                        "standard output: \(text): nothing more is collected", .inputOutput)
                }
                onEnd?()
                return
            }
            bytes = bytes.dropFirst(count)
        }
    }
}
