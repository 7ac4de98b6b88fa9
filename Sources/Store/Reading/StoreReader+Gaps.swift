import Collector
import NearbyCore
import Telemetry

extension StoreReader {
    /// In order of node, run and first number.
    public func gaps(_ query: StoreQuery) throws(StoreError) -> [StoredGap] {
        let rows = try database.prepare(Self.gapsSQL)
        var gaps: [StoredGap] = []
        try snapshot { () throws(StoreError) in
            try addGaps(query, rows, &gaps)
        }
        return gaps
    }

    private func addGaps(
        _ query: StoreQuery, _ rows: Statement, _ gaps: inout [StoredGap]
    ) throws(StoreError) {
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
                peer: peer, node: isRaw ? node : name,
                gap: Gap(run: run, range: range, reason: GapReason(rawValue: reason)))
            if let boot = BootID(stored: rows.bytes(6)) {
                if datings[boot] == nil { datings[boot] = try clocks.mappings(of: boot).stretches }
                let dating = datings[boot] ?? nil
                // Of the stored readings on either side.
                let (before, after) = (
                    try stored.row(of: rows.integer(7), before: first),
                    try stored.row(of: rows.integer(7), notBefore: first.addingSaturating(count))
                )
                gap.from = before.flatMap { dating?.utc($0.reading.milliseconds) }
                gap.to = after.flatMap { dating?.utc($0.reading.milliseconds) }
            }
            gaps.append(gap)
        }
    }

    private static let gapsSQL = """
        SELECT peers.peer, peers.name, runs.run, gaps.first, gaps.count, gaps.reason, runs.boot,
            runs.id
        FROM gaps JOIN runs ON runs.id = gaps.run_id JOIN peers ON peers.id = runs.peer_id
        ORDER BY peers.name, peers.peer, runs.id, gaps.first
        """
}
