import Collector
import Fleet
import NearbyCore
import Telemetry

/// What a store knows of nodes, whatever their readings say.
public struct StoredNodes {
    private let reader: StoreReader

    public init(_ reader: StoreReader) { self.reader = reader }

    /// What these nodes were called last, as far as readings of them were stored.
    public func names(of peers: Set<PeerID>) throws(StoreError) -> [PeerID: String] {
        let rows = try reader.database.prepare("SELECT peer, name FROM peers")
        var names: [PeerID: String] = [:]
        while try rows.step() {
            guard let peer = PeerID(bytes: rows.bytes(0)), peers.contains(peer) else { continue }
            names[peer] = rows.text(1)
        }
        return names
    }

    /// Nodes as they were heard last: of each its newest run that has readings with a time.
    ///
    /// Of each node a few runs are looked at, and of each channel one reading is read.
    ///
    /// - Parameters:
    ///   - utc: nodes whose newest reading is older are left out; nanoseconds since 1970.
    ///   - limit: so many nodes, those whose runs the store heard of last.
    public func recalled(since utc: Int64, limit: Int) throws(StoreError) -> [RecalledNode] {
        let rows = try reader.database.prepare("SELECT id, peer_id FROM runs ORDER BY id DESC")
        var candidates: [(run: Int64, peer: Int64)] = []
        while try rows.step() { candidates.append((rows.integer(0), rows.integer(1))) }
        let run = try reader.database.prepare(
            """
            SELECT peers.peer, runs.boot, runs.birth FROM runs
            JOIN peers ON peers.id = runs.peer_id WHERE runs.id = ?1
            """)
        var tries: [Int64: Int] = [:]
        var nodes: [RecalledNode] = []
        for candidate in candidates where tries[candidate.peer, default: 0] < Self.triesMax {
            tries[candidate.peer, default: 0] += 1
            var found: RecalledNode?
            try reader.snapshot { () throws(StoreError) in
                found = try node(of: candidate.run, run)
            }
            guard let found, let newest = found.utc else { continue }
            tries[candidate.peer] = Self.triesMax
            if newest >= utc { nodes.append(found) }
            if nodes.count >= limit { break }
        }
        return nodes
    }

    /// Runs without a reading that are passed over for one with some.
    private static let triesMax = 8

    private func node(of id: Int64, _ run: Statement) throws(StoreError) -> RecalledNode? {
        run.bind(1, id)
        defer { run.reset() }
        guard try run.step(), let peer = PeerID(bytes: run.bytes(0)),
            let boot = BootID(stored: run.bytes(1)),
            case .birth(let birth)? = try? TelemetryMessage(parsing: run.bytes(2)),
            let dating = try reader.clocks.mappings(of: boot).stretches
        else { return nil }
        var node = RecalledNode(peer: peer, birth: birth)
        let end = ReadingTable.Place(milliseconds: .max, sequence: .min)
        for channel in birth.channels {
            let last = try reader.stored.rowsBackwards(
                of: id, channel: Int64(channel.number), before: end, from: .min, limit: 1)
            guard let last = last.first else { continue }
            node.newest.append(
                RecalledNode.Newest(
                    channel: channel.number, sequence: UInt64(clamping: last.reading.sequence),
                    outcome: last.reading.outcome, utc: dating.utc(last.reading.milliseconds),
                    hops: last.hops))
        }
        return node
    }
}
