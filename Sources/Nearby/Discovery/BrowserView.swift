import NearbyCore
import NearbyEngine
import NearbyWire

/// Whom a browser's program was told of.
final class BrowserView {
    let browsed: Browsed
    private var shown: [PeerID: Shown] = [:]

    private struct Shown {
        let name: String
        let info: DiscoveryInfo
        /// The one that it was found with.
        var run: RunID
    }

    init(_ browsed: Browsed) { self.browsed = browsed }

    /// A peer that does not advertise is not there for people.
    func tell(_ sighting: Sighting) {
        guard let name = sighting.name, !sighting.flags.contains(.hidden) else {
            return lose(sighting.peer)
        }
        let old = shown[sighting.peer]
        shown[sighting.peer] = Shown(
            name: name, info: sighting.info, run: old?.run ?? sighting.run)
        let peer = Peer(displayName: name, id: sighting.peer)
        let info = sighting.info.dictionary
        guard let old else { return push(.found(peer, info: info)) }
        if old.name != name || old.info != sighting.info { push(.changed(peer, info: info)) }
    }

    /// Its channel proves which run it is: a peer that restarted without being missed is reported
    /// lost, then found.
    func connected(_ id: PeerID, _ run: RunID) {
        guard let old = shown[id], old.run != run else { return }
        let peer = Peer(displayName: old.name, id: id)
        shown[id]?.run = run
        push(.lost(peer))
        push(.found(peer, info: old.info.dictionary))
    }

    func lose(_ peer: PeerID) {
        guard let old = shown.removeValue(forKey: peer) else { return }
        push(.lost(Peer(displayName: old.name, id: peer)))
    }

    private func push(_ event: Browser.Event) { browsed.events.push(event, .news) }
}
