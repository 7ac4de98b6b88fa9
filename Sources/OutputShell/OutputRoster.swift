import CollectorConfiguration
import Fleet
import NearbyCore
import NearbyLinux
import Outputs
import Store

/// The outputs of a collector. For the logic thread, which nothing here keeps waiting but `finish`.
public final class OutputRoster {
    public let exchange = OutputExchange()
    public let board: FleetBoard
    private let context: OutputContext
    private var settings: [OutputSettings] = []
    private var words = FleetWords.none
    private var source: OutputSource?
    private var threads: [OutputThread] = []
    /// Those that are on their way out, by the name of who takes their place.
    private var leaving: [String: OutputThread] = [:]

    /// - Parameter seed: another one in each process.
    public init(
        board: FleetBoard, collector: PeerID, network: String, seed: UInt64
    ) throws(SystemError) {
        self.board = board
        context = try OutputContext(
            exchange, board, collector: collector, network: network, seed: seed)
    }

    /// What the log is to say; from any output.
    public var messages: Mailbox<OutputMessage> { context.messages }

    public var isEmpty: Bool { settings.isEmpty }

    /// What the store is to keep cursors for.
    public var registrations: [OutputRegistration] {
        settings.map {
            OutputRegistration(
                name: $0.name, kind: $0.kind.name, defaultName: $0.kind.defaultName,
                wantsHistory: $0.wantsHistory, hold: $0.hold)
        }
    }

    /// Another set of outputs: those that stay as they are go on undisturbed, others end. New ones
    /// begin when the store says where (`follow`), once the one whose place they have has ended.
    public func use(_ settings: [OutputSettings], words: FleetWords) {
        let former = self.settings.map(\.name)
        self.settings = settings
        self.words = words
        let successors = OutputSuccession.successors(of: former, in: registrations)
        for (name, successor) in successors {
            exchange.forget(name)
            if let thread = leaving.removeValue(forKey: name) { leaving[successor] = thread }
        }
        for thread in threads where !isWanted(thread) {
            thread.mail.stop()
            leaving[successors[thread.name] ?? thread.name] = thread
            // What it posts now would move the cursor of another one that is called so later.
            if successors[thread.name] != nil { thread.mail.abandon() }
        }
        threads.removeAll { !isWanted($0) }
        for (name, thread) in leaving where !isConfigured(name) {
            thread.mail.forget()
            exchange.forget(name)
        }
        leaving = leaving.filter { !$0.value.mail.isFinished || isConfigured($0.key) }
    }

    private func isWanted(_ thread: OutputThread) -> Bool {
        settings.contains(thread.settings) && thread.words == words
    }

    private func isConfigured(_ name: String) -> Bool { settings.contains { $0.name == name } }

    /// The store is open, and has a cursor for each of the outputs.
    public func follow(_ source: OutputSource) throws(SystemError) {
        if let known = self.source, known.generation != source.generation {
            for thread in threads { thread.mail.move(to: source) }
        }
        self.source = source
        for settings in settings where !threads.contains(where: { $0.name == settings.name }) {
            guard source.progress.contains(where: { $0.name == settings.name }) else { continue }
            let thread = try OutputThread(
                settings, words: words, context: context, source: source,
                after: leaving.removeValue(forKey: settings.name))
            try thread.start()
            threads.append(thread)
        }
    }

    /// In the order of the configuration.
    public func statuses(now: Instant, utc: Int64) -> [OutputStatus] {
        settings.map { settings in
            threads.first { $0.name == settings.name }?.mail.status(now: now, utc: utc)
                ?? OutputStatus(
                    name: settings.name, kind: settings.kind.name, target: settings.kind.target)
        }
    }

    // MARK: The end

    /// Asks all to end; `isFinished` tells when they have.
    public func stop() { for thread in threads { thread.mail.stop() } }

    public var isFinished: Bool { threads.allSatisfy(\.mail.isFinished) }

    /// Those that have not ended.
    public var unfinished: [String] { threads.filter { !$0.mail.isFinished }.map(\.name) }
}
