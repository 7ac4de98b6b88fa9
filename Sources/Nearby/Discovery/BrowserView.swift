import NearbyCore
import NearbyEngine
import NearbyWire

/// Whom a browser's program was told of.
final class BrowserView {
    let browsed: Browsed
    private var shown: [PeerID: Shown] = [:]

    private struct Shown: Equatable {
        let name: String
        let info: DiscoveryInfo
    }

    init(_ browsed: Browsed) { self.browsed = browsed }

    /// A peer that does not advertise is not there for people.
    func tell(_ sighting: Sighting) {
        guard let name = sighting.name, !sighting.flags.contains(.hidden) else {
            return lose(sighting.peer)
        }
        let new = Shown(name: name, info: sighting.info)
        let old = shown.updateValue(new, forKey: sighting.peer)
        guard old != new else { return }
        let peer = Peer(displayName: name, id: sighting.peer)
        let info = sighting.info.dictionary
        push(old == nil ? .found(peer, info: info) : .changed(peer, info: info))
    }

    func lose(_ peer: PeerID) {
        guard let old = shown.removeValue(forKey: peer) else { return }
        push(.lost(Peer(displayName: old.name, id: peer)))
    }

    private func push(_ event: Browser.Event) { browsed.events.push(event, .news) }
}
