import NearbyCore

/// The newest of many rows that come in any order; rows of the same time stay in the order in which
/// they came.
struct NewestRows<Row> {
    private let limit: Int
    private var rows: [(time: Int64, row: Row)] = []
    /// Of the oldest that is kept, once there are as many as wanted; what is not newer is not
    /// wanted.
    private(set) var floor: Int64?

    /// - Parameter limit: from 1; up to twice as many are held.
    init(_ limit: Int) { self.limit = max(limit, 1) }

    /// Returns whether an older row could still be wanted.
    ///
    /// - Parameter time: UTC; what has none is older than all that has.
    mutating func add(_ row: Row, time: Int64?) -> Bool {
        let time = time ?? .min
        if let floor, time <= floor { return false }
        rows.append((time, row))
        if rows.count >= limit.multipliedReportingOverflow(by: 2).partialValue { settle() }
        return true
    }

    mutating func settle() {
        let order = rows.indices.sorted { left, right in
            rows[left].time == rows[right].time
                ? left < right : rows[left].time > rows[right].time
        }
        rows = order.prefix(limit).map { rows[$0] }
        if rows.count == limit { floor = rows.last?.time }
    }

    /// Newest first.
    mutating func finish() -> [Row] {
        settle()
        return rows.map(\.row)
    }
}
