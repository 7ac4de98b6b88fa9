import NearbyCore
import NearbyEngine

/// Decides which refusals are written to the log: each kind from one peer and host once, its
/// repetitions as a sum once a minute. So nobody fills the log by being refused.
///
/// At most 8 lines of one reason and 64 altogether are remembered; what is beyond is summed up by
/// its reason alone.
struct RefusalLog: Sendable {
    enum Input: Sendable {
        /// `line`: what would be written of it.
        case refused(PeerID?, DropReason, at: Endpoint?, line: String)
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        case write(String)
    }

    private struct Entry: Sendable {
        let peer: PeerID?
        let reason: DropReason
        /// Without the port, which anybody may change at will.
        let host: Endpoint?
        let line: String
        var repetitions: UInt64 = 0
        var until: Instant
    }

    /// Oldest first.
    private var entries: [Entry] = []
    /// Of refusals without an entry, by their reason's name, until `othersUntil`.
    private var others: [String: UInt64] = [:]
    private var othersUntil = Instant.distantFuture

    init() {}

    var nextDeadline: Instant? {
        let earliest = entries.reduce(othersUntil) { min($0, $1.until) }
        return earliest == .distantFuture ? nil : earliest
    }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        let sums = sumUp(now)
        guard case .refused(let peer, let reason, let endpoint, let line) = input else {
            return sums
        }
        let entry = Entry(
            peer: peer, reason: reason, host: endpoint?.withoutPort, line: line,
            until: now + Limits.refusalPeriod)
        return sums + refused(entry, now)
    }

    private mutating func refused(_ new: Entry, _ now: Instant) -> [Output] {
        let known = entries.firstIndex {
            $0.peer == new.peer && $0.reason == new.reason && $0.host == new.host
        }
        if let known {
            entries[known].repetitions &+= 1
        } else if entries.count < Limits.refusalsMax,
            entries.count(where: { $0.reason == new.reason }) < Limits.refusalsOfOneReason
        {
            entries.append(new)
            return [.write(new.line)]
        } else {
            if others.isEmpty { othersUntil = now + Limits.refusalPeriod }
            others[new.reason.rawValue, default: 0] &+= 1
        }
        return []
    }

    private mutating func sumUp(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for index in entries.indices where entries[index].until <= now {
            let entry = entries[index]
            guard entry.repetitions > 0 else { continue }
            outputs.append(.write("\(entry.line) (\(entry.repetitions) more times)"))
            entries[index].repetitions = 0
            entries[index].until = now + Limits.refusalPeriod
        }
        entries.removeAll { $0.until <= now }
        guard othersUntil <= now else { return outputs }
        // An array, whose sorting is compiled in anyway.
        for reason in Array(others.keys).sorted() {
            outputs.append(
                .write(
                    "\(reason): \(others[reason] ?? 0) more, by others than those named before"))
        }
        others.removeAll()
        othersUntil = .distantFuture
        return outputs
    }
}

extension Endpoint {
    fileprivate var withoutPort: Endpoint {
        var host = self
        switch address {
        case .ipv4(let address, _): host.address = .ipv4(address: address, port: 0)
        case .ipv6(let high, let low, _): host.address = .ipv6(high: high, low: low, port: 0)
        case .bluetooth, .simulated: break
        }
        return host
    }
}

extension Limits {
    /// Refusals that the log has told and may have to sum up, and of them those of one reason.
    static let refusalsMax = 64
    static let refusalsOfOneReason = 8
    /// Between two lines about the same refusal.
    static let refusalPeriod = Duration.seconds(60)
}
