import CollectorConfiguration
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import OutputShell
import Outputs
import Store

/// The outputs behind a collector's store.
extension CollectorProgram {
    /// How long outputs may take to end.
    private static let patience: Duration = .seconds(3)

    /// The store says where each output stands.
    func follow(_ source: OutputSource, _ departed: [OutputSuccession.Departure]) {
        for departure in departed {
            log.write(departure.isLoss ? .warning : .diagnostic, departure.text)
        }
        do throws(SystemError) {
            try roster?.follow(source)
        } catch {
            log.write(.error, "outputs: \(error)")
        }
    }

    func tell(_ message: OutputMessage) {
        log.write(message.level == .fault ? .warning : .diagnostic, message.text)
    }

    /// Once for each output.
    func tell(_ holds: Store.Holds) {
        for name in holds.held.subtracting(self.holds.held).sorted() {
            log.write(
                .warning,
                "output \(name) is behind: readings older than `collector: keep` stay in the "
                    + "store until it has them, up to its `hold`")
        }
        for name in holds.lost.subtracting(self.holds.lost).sorted() {
            log.write(
                .error,
                "output \(name) is too far behind: readings older than `keep` and `hold` "
                    + "together are deleted, although it has not delivered them")
        }
        self.holds = holds
    }

    /// Whether it keeps nothing, beside a collector on this machine.
    private var isLookingIn: Bool { program.settings.state.isEmpty }

    /// Applies the outputs, alarms, words and page of the file; its other keys need a restart.
    func reload() {
        guard !isStopping else { return }
        let path = program.settings.file
        switch CollectorSettings.load(path) {
        case .bad(let mistakes):
            for mistake in mistakes { log.write(.error, mistake.description) }
            log.write(.error, "\(path): not applied; the collector goes on as before")
        case .good(let found):
            // Who looks in beside the collector leaves its page and its alarms to it.
            let settings = isLookingIn ? found.lookingIn(found.node) : found
            for warning in settings.node.warnings { log.write(.warning, warning.description) }
            let words = FleetWords(settings.agents)
            if words != fleet.words {
                fleet.change(words: words)
                output.change(words: words)
            }
            alarms.use(settings, MonotonicClock.now())
            if let roster, let store {
                roster.use(settings.outputs, words: words)
                store.use(roster.registrations)
            }
            page.change(settings.web, words: words)
            log.write(
                .diagnostic,
                "\(path): outputs, alarms, agents and the page reloaded; other keys need a restart")
        }
    }

    /// Each may finish the call that is under way; a server that hangs does not keep us.
    func stopOutputs() {
        guard let roster, let store else { return }
        let end = MonotonicClock.now() + Self.patience
        roster.stop()
        while !roster.isFinished, MonotonicClock.now() < end { usleep(10_000) }
        for name in roster.unfinished {
            log.write(
                .warning, "output \(name) has not ended; what it is delivering may come again")
        }
        store.keepLast(until: MonotonicClock.now() + Self.patience)
    }

    /// How the outputs fare.
    var outputStatuses: [OutputStatus] {
        roster?.statuses(
            now: MonotonicClock.now(), utc: WallClock.read().unixNanoseconds) ?? []
    }
}
