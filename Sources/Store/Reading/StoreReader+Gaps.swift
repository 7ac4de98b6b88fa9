import Collector
import NearbyCore
import Telemetry

extension StoreReader {
    /// In order of node, run and first number.
    public func gaps(_ query: StoreQuery) throws(StoreError) -> [StoredGap] {
        let rows = try database.prepare(Self.gapsSQL)
        var gaps: [StoredGap] = []
        var datings: [BootID: Stretches?] = [:]
        while try rows.step() {
            let (first, count) = (rows.integer(3), rows.integer(4))
            guard let peer = PeerID(bytes: rows.bytes(0)), let run = RunID(stored: rows.bytes(2)),
                first > 0, count > 0, let reason = UInt8(exactly: rows.integer(5))
            else { continue }
            let node = rows.text(1)
            let name = words.name(of: peer, named: node)
            guard query.matches(peer, node, shown: name) else { continue }
            let range = UInt64(first)..<UInt64(first.addingSaturating(count))
            guard !range.isEmpty else { continue }
            var gap = StoredGap(
                peer: peer, node: name,
                gap: Gap(run: run, range: range, reason: GapReason(rawValue: reason)))
            if let boot = BootID(stored: rows.bytes(6)) {
                if datings[boot] == nil { datings[boot] = try clocks.mappings(of: boot).stretches }
                let dating = datings[boot] ?? nil
                gap.from = rows.optionalInteger(7).flatMap { dating?.utc($0) }
                gap.to = rows.optionalInteger(8).flatMap { dating?.utc($0) }
            }
            gaps.append(gap)
        }
        return gaps
    }

    /// With the board's time of the stored readings on either side.
    private static let gapsSQL = """
        SELECT peers.peer, peers.name, runs.run, gaps.first, gaps.count, gaps.reason, runs.boot,
            (SELECT milliseconds FROM readings WHERE run_id = runs.id AND sequence < gaps.first
                ORDER BY sequence DESC LIMIT 1),
            (SELECT milliseconds FROM readings WHERE run_id = runs.id
                AND sequence >= gaps.first + gaps.count ORDER BY sequence LIMIT 1)
        FROM gaps JOIN runs ON runs.id = gaps.run_id JOIN peers ON peers.id = runs.peer_id
        ORDER BY peers.name, peers.peer, runs.id, gaps.first
        """
}
