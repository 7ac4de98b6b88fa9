import Fleet
import NearbyCore

extension Limits {
    /// Changes of links that a store keeps; then the older half goes.
    static let meshRowsMax: Int64 = 200_000
    /// From one change of a link's cost or loss to the next that is written.
    static let meshChangeInterval: Int64 = 60_000_000_000
    /// Between two looks for what is too old.
    static let meshSweepInterval: Int64 = 3_600_000_000_000
}

/// Who reached whom, as changes: a row for each link that came, went, or became another.
///
/// Costs and losses waver; only what a person would see in a picture is written.
struct MeshTable {
    /// A link as it was written last.
    struct Written: Equatable {
        var link: FleetLink
        var utc: Int64
        var isGone = false
    }

    private struct Pair: Hashable, Comparable {
        var from: PeerID
        var to: PeerID

        static func < (left: Pair, right: Pair) -> Bool {
            (left.from, left.to) < (right.from, right.to)
        }
    }

    /// Nil before the table was read.
    private var written: [Pair: Written]?
    private var nextSweep = Int64.min

    /// Writes what is another than before; one transaction.
    ///
    /// - Parameters:
    ///   - utc: nanoseconds since 1970.
    ///   - keep: as of readings, nanoseconds; nil: for ever.
    mutating func record(
        _ links: [FleetLink], utc: Int64, keep: Int64?, in database: Database
    ) throws(StoreError) {
        let known: [Pair: Written]
        if let written { known = written } else { known = try Self.read(database, at: .max) }
        let changes = Self.changes(from: known, to: links, utc: utc)
        let isDue = utc >= nextSweep
        guard !changes.isEmpty || isDue else {
            written = known
            return
        }
        try database.transaction { () throws(StoreError) in
            for change in changes { try Self.insert(change, database) }
            if isDue { try Self.sweep(database, utc: utc, keep: keep) }
        }
        var next = known
        for change in changes {
            let pair = Pair(from: change.link.from, to: change.link.to)
            next[pair] = change.isGone ? nil : change
        }
        written = next
        if isDue { nextSweep = utc.addingSaturating(Limits.meshSweepInterval) }
    }

    /// The links that there were.
    static func links(_ database: Database, at utc: Int64) throws(StoreError) -> [FleetLink] {
        try read(database, at: utc).sorted { $0.key < $1.key }.map(\.value.link)
    }

    // MARK: What is written

    private static func changes(
        from known: [Pair: Written], to links: [FleetLink], utc: Int64
    ) -> [Written] {
        var changes: [Written] = []
        var present: Set<Pair> = []
        for link in links {
            let pair = Pair(from: link.from, to: link.to)
            guard present.insert(pair).inserted else { continue }
            guard let before = known[pair], !isAnother(link, before, utc: utc) else {
                changes.append(Written(link: link, utc: utc))
                continue
            }
        }
        for pair in known.keys.sorted() where !present.contains(pair) {
            guard let before = known[pair] else { continue }
            changes.append(Written(link: before.link, utc: utc, isGone: true))
        }
        return changes
    }

    /// What it is made of, or by a quarter of its cost, or ten points of loss.
    private static func isAnother(_ link: FleetLink, _ before: Written, utc: Int64) -> Bool {
        if link.link != before.link.link || link.isDirect != before.link.isDirect { return true }
        guard utc.subtractingSaturating(before.utc) >= Limits.meshChangeInterval else {
            return false
        }
        let (cost, former) = (Int64(link.cost), Int64(before.link.cost))
        if abs(cost - former) * 4 > max(former, 4) { return true }
        let (loss, formerLoss) = (link.lossPercent, before.link.lossPercent)
        return (loss == nil) != (formerLoss == nil) || abs((loss ?? 0) - (formerLoss ?? 0)) >= 10
    }

    private static func insert(_ change: Written, _ database: Database) throws(StoreError) {
        let statement = try database.prepare(
            """
            INSERT INTO mesh (utc, near, far, link, cost, loss, is_direct, is_gone)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """)
        try statement.bind(1, change.utc).bind(2, change.link.from.bytes)
            .bind(3, change.link.to.bytes).bind(4, change.link.link)
            .bind(5, Int64(change.link.cost)).bind(6, real: change.link.lossPercent)
            .bind(7, change.link.isDirect ? 1 : 0)
            .bind(8, change.isGone ? 1 : 0).run()
    }

    // MARK: What is kept

    private static func sweep(
        _ database: Database, utc: Int64, keep: Int64?
    ) throws(StoreError) {
        var cut = keep.map { utc.subtractingSaturating($0) } ?? .min
        let half = try database.integer(
            """
            SELECT utc FROM mesh WHERE (SELECT count(*) FROM mesh) > \(Limits.meshRowsMax)
            ORDER BY id DESC LIMIT 1 OFFSET \(Limits.meshRowsMax / 2)
            """)
        cut = max(cut, half ?? .min)
        // How the mesh was at the cut stays known.
        try database.prepare(
            """
            DELETE FROM mesh WHERE utc < ?1 AND EXISTS (SELECT 1 FROM mesh AS next
                WHERE next.near = mesh.near AND next.far = mesh.far
                AND next.utc > mesh.utc AND next.utc <= ?1)
            """
        ).bind(1, cut).run()
        try database.prepare("DELETE FROM mesh WHERE utc < ?1 AND is_gone = 1").bind(1, cut).run()
    }

    private static func read(
        _ database: Database, at utc: Int64
    ) throws(StoreError) -> [Pair: Written] {
        let rows = try database.prepare(
            """
            SELECT near, far, link, cost, loss, is_direct, is_gone, max(utc) FROM mesh
            WHERE utc <= ?1 GROUP BY near, far
            """)
        rows.bind(1, utc)
        var links: [Pair: Written] = [:]
        while try rows.step() {
            guard rows.integer(6) == 0, let from = PeerID(bytes: rows.bytes(0)),
                let to = PeerID(bytes: rows.bytes(1))
            else { continue }
            var link = FleetLink(
                from: from, to: to, link: rows.text(2), cost: UInt32(clamping: rows.integer(3)),
                lossPercent: rows.optionalReal(4))
            link.isDirect = rows.integer(5) == 1
            links[Pair(from: from, to: to)] = Written(link: link, utc: rows.integer(7))
        }
        return links
    }
}

extension Store {
    /// Writes who reaches whom now, as far as it is another than before.
    ///
    /// - Parameter utc: nanoseconds since 1970.
    public func record(mesh links: [FleetLink], utc: Int64) throws(StoreError) {
        try mesh.record(
            links, utc: utc, keep: settings.keep.map(\.nanoseconds), in: database)
    }
}

extension StoreReader {
    /// Who reached whom at a time (nanoseconds since 1970), in the order of the PeerIDs; empty
    /// before anything was known.
    public func mesh(at utc: Int64) throws(StoreError) -> [FleetLink] {
        try MeshTable.links(database, at: utc)
    }

    /// Since when that is known, nanoseconds since 1970; nil: not at all.
    public func meshBegin() throws(StoreError) -> Int64? {
        try database.integer("SELECT min(utc) FROM mesh")
    }
}
