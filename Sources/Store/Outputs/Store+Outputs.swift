import NearbyCore

extension Store {
    /// The outputs that the store keeps cursors for from now on.
    public struct Registered: Sendable {
        /// Where each of them stands.
        public var progress: [OutputProgress] = []
        /// Those that are not configured any more.
        public var departed: [OutputSuccession.Departure] = []
    }

    /// Changes the set of outputs: a new one begins at the end of the log, or in the place of one
    /// that it follows (`OutputSuccession`); one that is not named any more, and that none follows,
    /// loses its cursor, and holds nothing back.
    public func register(_ outputs: [OutputRegistration]) throws(StoreError) -> Registered {
        var result = Registered()
        try database.transaction { () throws(StoreError) in
            let known = try cursors.all()
            let names = known.map(\.name)
            let successors = OutputSuccession.successors(of: names, in: outputs)
            for progress in known where !outputs.contains(where: { $0.name == progress.name }) {
                let name = progress.name
                result.departed.append(
                    OutputSuccession.Departure(
                        name: name, successor: successors[name],
                        waitingCount: try cursors.waitingCount(behind: progress),
                        isAmbiguous: successors[name] == nil
                            && OutputSuccession.isAmbiguous(name, names, outputs)))
                if let successor = successors[name] {
                    try cursors.rename(name, to: successor)
                } else {
                    try cursors.delete(name)
                }
            }
            for output in outputs
            where !names.contains(output.name) && !successors.values.contains(output.name) {
                try cursors.add(output)
            }
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
