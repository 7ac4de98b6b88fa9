import NearbyCore

extension Store {
    /// The outputs that the store keeps cursors for from now on.
    public struct Registered: Sendable {
        /// Where each of them stands.
        public var progress: [OutputProgress] = []
        /// Those whose cursors are gone, because they are not configured any more.
        public var removed: [String] = []
    }

    /// Changes the set of outputs: a new one begins at the end of the log, one that is not named
    /// any more loses its cursor, and holds nothing back.
    public func register(_ outputs: [OutputRegistration]) throws(StoreError) -> Registered {
        var result = Registered()
        try database.transaction { () throws(StoreError) in
            let known = try cursors.all().map(\.name)
            for name in known where !outputs.contains(where: { $0.name == name }) {
                try cursors.delete(name)
                result.removed.append(name)
            }
            for output in outputs where !known.contains(output.name) { try cursors.add(output) }
            try cursors.mendLog()
            result.progress = try cursors.all()
        }
        changes.isKept = !outputs.isEmpty
        retention.outputs = outputs
        return result
    }

    /// Keeps the cursors, apart from any commit.
    public func save(_ progress: [OutputProgress]) throws(StoreError) {
        try database.transaction { () throws(StoreError) in
            for progress in progress { try cursors.save(progress) }
        }
    }

    /// Deletes what every output has delivered.
    func pruneChanges(_ left: inout Int) throws(StoreError) {
        guard left > 0 else { return }
        try database.execute(
            """
            DELETE FROM changes WHERE id IN (SELECT id FROM changes
            WHERE id <= coalesce((SELECT min(change) FROM cursors), \(Int64.max)) LIMIT \(left))
            """)
        left -= database.changeCount
    }
}
