import NearbyCore

/// What a simulated site came to.
public struct SiteReport: Sendable {
    /// Whether what was promised holds.
    public enum Verdict: Equatable, Sendable {
        case none
        case kept(String)
        case missed(String)

        init(_ isKept: Bool, _ goal: String) { self = isKept ? .kept(goal) : .missed(goal) }
    }

    /// One line.
    public struct Fact: Equatable, Sendable {
        public var name: String
        public var value: String
        public var verdict: Verdict
    }

    public private(set) var facts: [Fact] = []
    /// What must never happen, and did.
    public internal(set) var failures: [String] = []

    public var missed: [Fact] {
        facts.filter { if case .missed = $0.verdict { true } else { false } }
    }

    mutating func add(_ name: String, _ value: String, _ verdict: Verdict = .none) {
        facts.append(Fact(name: name, value: value, verdict: verdict))
    }

    public static func line(_ fact: Fact) -> String {
        let padding = String(repeating: " ", count: max(1, 18 - fact.name.count))
        return fact.name + padding + fact.value + text(fact.verdict)
    }

    private static func text(_ verdict: Verdict) -> String {
        switch verdict {
        case .none: ""
        case .kept(let goal): " (goal: \(goal))"
        case .missed(let goal): " MISSED (goal: \(goal))"
        }
    }
}

/// Numbers as people read them: two or three digits that count.
enum Figure {
    static func seconds(_ time: Duration) -> String {
        let milliseconds = time.milliseconds
        if milliseconds < 10 { return "\(decimal(Double(time.nanoseconds) / 1e6)) ms" }
        if milliseconds < 1_000 { return "\(milliseconds) ms" }
        return "\(decimal(Double(milliseconds) / 1_000)) s"
    }

    /// One digit after the point.
    static func decimal(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// Two digits after the point.
    static func hundredths(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        let hundredths = Int((value * 100).rounded())
        let rest = abs(hundredths % 100)
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    static func percent(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return "0 %" }
        return "\(hundredths(Double(part) * 100 / Double(whole))) %"
    }

    static func bytes(_ count: Double) -> String {
        if count < 10_000 { return "\(Int(count.rounded())) B" }
        if count < 10_000_000 { return "\(Int((count / 1_000).rounded())) kB" }
        return "\(decimal(count / 1_000_000)) MB"
    }

    /// Of values in any order; nil for none.
    static func quantile<Value: Comparable>(_ part: Double, of values: [Value]) -> Value? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }
}
