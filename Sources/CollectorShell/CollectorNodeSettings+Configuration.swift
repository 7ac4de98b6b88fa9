import Collector
import CollectorComposition
import Configuration
import NearbyCore
import NearbyLinux
import NodeShell

extension CollectorNode.Settings {
    /// What a configuration says of a collector.
    ///
    /// - Parameters:
    ///   - width: of a window; nil: as configured.
    ///   - isDurable: it has a store.
    init(_ settings: Settings, width: Duration?, isDurable: Bool) {
        self.init(isDurable: isDurable, boot: ThisMachine.bootID, seed: systemRandom())
        quotas = CollectorQuotas(settings)
        clockSources = Set(settings.collectors)
        windows.width = width ?? settings.window
        let now = WallClock.read()
        windows.phase = .nanoseconds(
            now.unixNanoseconds.subtractingSaturating(now.monotonic.nanoseconds))
        windows.seriesPerPeerMax = settings.seriesPerAgent
    }
}
