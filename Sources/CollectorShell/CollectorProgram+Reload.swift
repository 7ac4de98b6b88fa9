import CollectorConfiguration
import Fleet
import NearbyLinux
import NodeShell

/// What of a configuration that was changed is applied while the collector runs.
extension CollectorProgram {
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
            storage?.use(settings.outputs, words: words)
            page.change(settings.web, words: words)
            log.write(
                .diagnostic,
                "\(path): outputs, alarms, agents and the page reloaded; other keys need a restart")
        }
    }
}
