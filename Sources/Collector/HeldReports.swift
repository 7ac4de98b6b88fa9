import NearbyCore
import Telemetry

extension Limits {
    /// Reports of one agent that wait for their birth.
    static let heldReportsPerPeerMax = 16
    /// Reports of all agents that wait for their births.
    public static let heldReportsMax = 1_024
    /// What these may take in memory, bytes: a report of one-byte readings takes most.
    static let heldReportBytesMax = 8 << 20
    /// How long a report waits for its birth.
    static let heldReportTime: Duration = .seconds(10)
}

/// A report with the circumstances of its arrival.
struct HeldReport: Sendable {
    var report: Report
    var arrival: Instant
    var hops: UInt8

    init(_ report: Report, arrival: Instant, hops: UInt8) {
        self.report = report
        self.arrival = arrival
        self.hops = hops
    }

    /// In memory, roughly.
    var byteCount: Int { 128 + report.entries.count * MemoryLayout<Report.Entry>.stride }
}

/// Reports that wait for their births. At the limit of its agent the oldest goes, at the common
/// limits the new one.
struct HeldReports: Sendable {
    private var reports: [PeerID: [HeldReport]] = [:]
    private(set) var count = 0
    /// In memory, roughly.
    private(set) var byteCount = 0
    /// The earliest time at which one may expire.
    private var expiry = Instant.distantFuture

    var nextDeadline: Instant? { count == 0 ? nil : expiry }

    /// Returns how many reports were dropped.
    mutating func add(_ report: HeldReport, of peer: PeerID) -> Int {
        var dropped = 0
        if reports[peer]?.count ?? 0 >= Limits.heldReportsPerPeerMax,
            let oldest = reports[peer]?.removeFirst()
        {
            remove(oldest)
            dropped += 1
        }
        guard count < Limits.heldReportsMax,
            byteCount + report.byteCount <= Limits.heldReportBytesMax
        else { return dropped + 1 }
        if count == 0 { expiry = .distantFuture }
        expiry = min(expiry, report.arrival + Limits.heldReportTime)
        reports[peer, default: []].append(report)
        count += 1
        byteCount += report.byteCount
        return dropped
    }

    /// All of one agent, in the order in which they came.
    mutating func takeAll(of peer: PeerID) -> [HeldReport] {
        let taken = reports.removeValue(forKey: peer) ?? []
        for report in taken { remove(report) }
        return taken
    }

    /// Returns how many have waited too long, and are gone.
    mutating func expire(now: Instant) -> Int {
        guard count > 0, now >= expiry else { return 0 }
        let before = count
        expiry = .distantFuture
        for (peer, held) in reports {
            let kept = held.filter { now < $0.arrival + Limits.heldReportTime }
            for gone in held where now >= gone.arrival + Limits.heldReportTime { remove(gone) }
            reports[peer] = kept.isEmpty ? nil : kept
            for report in kept { expiry = min(expiry, report.arrival + Limits.heldReportTime) }
        }
        return before - count
    }

    private mutating func remove(_ report: HeldReport) {
        count -= 1
        byteCount -= report.byteCount
    }
}
