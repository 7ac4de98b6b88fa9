import NearbyCore
import Telemetry

extension Limits {
    /// Nodes that the screen remembers having heard.
    static let screenPeersMax = 1_024
    /// Lines of the log that stand below the table.
    static let screenMessagesMax = 3
}

/// What `rivulet collect` shows on a terminal: at first whom it hears and what it waits for, then
/// one table over the other, and below it the last lines of the log.
///
/// Pure: what happened goes in, what is to be written comes out.
public struct CollectorScreen: Sendable {
    public enum Event: Sendable {
        /// A node is connected, directly or over others.
        case connected(PeerID, name: String)
        case disconnected(PeerID)
        case birth(PeerID, name: String, channelCount: Int)
        case readings(PeerID, count: Int)
        case window(Window, ShownClock)
        case resized(columns: Int, lines: Int)
        case message(String)
        /// A second has passed.
        case tick
    }

    private struct Heard: Sendable {
        var name: String
        var isConnected = true
        /// Nil before its birth.
        var channelCount: Int?
        var readingCount = 0
        var lastReading: Instant?
    }

    private let title: String
    private let width: Duration
    private var table: TablePrinter
    private var heard: [PeerID: Heard] = [:]
    private var messages: [String] = []
    private var last: (window: Window, clock: ShownClock)?

    /// - Parameters:
    ///   - title: who this is, such as `collector in network garden`.
    ///   - width: of a window.
    public init(title: String, width: Duration, settings: TablePrinter.Settings) {
        self.title = title
        self.width = width
        table = TablePrinter(settings: settings)
    }

    /// Whether the seconds that pass are shown.
    public var needsTicks: Bool { last == nil }

    /// What to write; empty where nothing on the screen changed.
    public mutating func handle(_ event: Event, now: Instant) -> String {
        switch event {
        case .connected(let peer, let name):
            guard change(peer, name, { $0.isConnected = true }) else { return "" }
        case .disconnected(let peer):
            guard let name = heard[peer]?.name else { return "" }
            _ = change(peer, name) { $0.isConnected = false }
        case .birth(let peer, let name, let channelCount):
            guard change(peer, name, { $0.channelCount = channelCount }) else { return "" }
        case .readings(let peer, let count):
            heard[peer]?.readingCount += count
            heard[peer]?.lastReading = now
            // The next tick or table shows it.
            return ""
        case .window(let window, let clock):
            last = (window, clock)
            return table.print(window, clock: clock, footer: footer)
        case .resized(let columns, let lines): table.setSize(lines: lines, width: columns)
        case .message(let text):
            messages.append(text)
            if messages.count > Limits.screenMessagesMax { messages.removeFirst() }
        case .tick: if !needsTicks { return "" }
        }
        return draw(now)
    }

    /// False if there is no room for another node.
    private mutating func change(
        _ peer: PeerID, _ name: String, _ body: (inout Heard) -> Void
    ) -> Bool {
        guard heard[peer] != nil || heard.count < Limits.screenPeersMax else { return false }
        var entry = heard[peer] ?? Heard(name: name)
        entry.name = name
        body(&entry)
        heard[peer] = entry
        return true
    }

    private mutating func draw(_ now: Instant) -> String {
        if let last { return table.redraw(last.window, clock: last.clock, footer: footer) }
        return table.print(lines: waiting(now), footer: messages)
    }

    private func waiting(_ now: Instant) -> [String] {
        let first = [title, "waiting for readings; a table follows every \(seconds(width))"]
        if heard.isEmpty { return first + ["no node is heard yet; Ctrl-C ends this"] }
        return first + sorted.map { line($0, now) }
    }

    /// `hears north: 12 channels, 34 readings, the last 2s ago`
    private func line(_ heard: Heard, _ now: Instant) -> String {
        var parts: [String] = []
        if let count = heard.channelCount {
            parts.append(count == 1 ? "1 channel" : "\(count) channels")
        } else if heard.readingCount == 0 {
            parts.append("connected, nothing said of its channels yet")
        }
        if let last = heard.lastReading {
            let count = heard.readingCount
            parts.append(count == 1 ? "1 reading" : "\(count) readings")
            parts.append("the last \(NumberText.age(now - last)) ago")
        }
        let verb = heard.isConnected ? "hears" : "heard"
        return "\(verb) \(heard.name): " + parts.joined(separator: ", ")
    }

    /// Nodes without a row, and what the log said.
    private var footer: [String] {
        let shown = Set(last?.window.rows.map(\.peer) ?? [])
        let others = heard.filter { !shown.contains($0.key) && $0.value.isConnected }
            .map(\.value.name).sorted()
        let line = others.isEmpty ? [] : ["also connected: " + others.joined(separator: ", ")]
        return line + messages
    }

    private var sorted: [Heard] {
        heard.sorted { ($0.value.name, $0.key) < ($1.value.name, $1.key) }.map(\.value)
    }

    private func seconds(_ width: Duration) -> String {
        let milliseconds = width.milliseconds
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }
}
