/// Which outputs go on from the places of those that are no longer configured: an output without a
/// name of its own is called after its kind and target, and its target may be corrected.
public enum OutputSuccession {
    /// A cursor whose output is no longer configured.
    public struct Departure: Hashable, Sendable {
        public var name: String
        /// The output that has its place now; nil: the cursor is deleted.
        public var successor: String?
        /// Readings that it had not delivered, as far as that is known.
        public var waitingCount: UInt64
        /// Several outputs might have been its successor.
        var isAmbiguous: Bool

        /// Whether readings wait for nobody any more.
        public var isLoss: Bool { successor == nil && waitingCount > 0 }

        /// A line for the log.
        public var text: String {
            if let successor {
                return "output \(name) is \(successor) now, and continues where it was: "
                    + "readings waiting: \(waitingCount); to start over, remove the output from "
                    + "the configuration, reload, put it back, and reload again"
            }
            let text = "output \(name) is no longer configured: its place in the store is deleted"
            guard isLoss else { return text }
            let loss = "\(text), and up to \(waitingCount) readings that waited are dropped"
            guard isAmbiguous else { return loss }
            return "\(loss); it is not clear which output replaces it: give each a `name`, and it "
                + "keeps its place when its address changes"
        }
    }

    /// By the name of the one that is gone.
    ///
    /// One that is given a name keeps its place. Of those without one, the only one of a kind that
    /// is gone is followed by the only one of that kind that is new.
    public static func successors(
        of former: [String], in outputs: [OutputRegistration]
    ) -> [String: String] {
        var gone = former.filter { name in !outputs.contains { $0.name == name } }
        var new = outputs.filter { !former.contains($0.name) }
        var successors: [String: String] = [:]
        for output in new where !output.isUnnamed {
            guard let name = output.defaultName, let index = gone.firstIndex(of: name) else {
                continue
            }
            successors[gone.remove(at: index)] = output.name
        }
        new.removeAll { !$0.isUnnamed }
        for output in new {
            let candidates = gone.filter(output.isLikeKind)
            let rivals = new.filter { $0.kind == output.kind }
            guard candidates.count == 1, rivals.count == 1 else { continue }
            successors[candidates[0]] = output.name
        }
        return successors
    }

    /// Whether a new output without a name might have followed this one.
    static func isAmbiguous(
        _ name: String, _ former: [String], _ outputs: [OutputRegistration]
    ) -> Bool {
        outputs.contains {
            $0.isUnnamed && !former.contains($0.name) && $0.isLikeKind(name)
        }
    }
}

extension OutputRegistration {
    fileprivate var isUnnamed: Bool { name == defaultName }

    /// Whether one that is called so, and has no name of its own, is of this kind.
    fileprivate func isLikeKind(_ name: String) -> Bool { name.hasPrefix(kind + " ") }
}
