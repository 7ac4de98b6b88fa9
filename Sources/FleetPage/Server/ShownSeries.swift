import Fleet
import NearbyCore
import Store
import Telemetry

extension StoreReader {
    /// The stored name of a node's channel: the name itself if the store has it, else that of the
    /// channel shown under it.
    func storedChannel(
        _ name: String, of peer: PeerID, _ words: FleetWords
    ) throws(StoreError) -> String {
        if words.isEmpty { return name }
        var query = StoreQuery()
        query.peers = [.id(peer)]
        let all = try series(query)
        if all.contains(where: { $0.channel == name }) { return name }
        var shown = ShownSeries(words)
        return all.first { shown.shown($0).series.channel == name }?.channel ?? name
    }
}

/// Series and readings out of the store in the words of the fleet: the same names, units and values
/// as on the cards.
struct ShownSeries {
    private let words: FleetWords
    /// The last, as stored and as shown: rows of a series come one after the other.
    private var last: (stored: StoredSeries, shown: StoredSeries, map: ValueMap)?

    init(_ words: FleetWords) { self.words = words }

    mutating func shown(_ series: StoredSeries) -> (series: StoredSeries, map: ValueMap) {
        if words.isEmpty { return (series, ValueMap()) }
        if let last, last.stored.run == series.run, last.stored.channel == series.channel,
            last.stored.peer == series.peer, last.stored.unit == series.unit
        {
            return (last.shown, last.map)
        }
        let channel = words.channel(
            of: series.peer, named: series.node, series.channel, series.unit, scale: series.scale)
        var shown = series
        shown.node = words.name(of: series.peer, named: series.node)
        shown.channel = channel.name
        (shown.unit, shown.scale) = (channel.unit, channel.scale)
        last = (series, shown, channel.map)
        return (shown, channel.map)
    }
}
