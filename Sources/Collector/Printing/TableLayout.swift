/// How wide the columns of a table are, so that it fits a terminal of any width.
///
/// In 80 columns everything has its place. What a wider terminal has left goes to names that would
/// be cut otherwise, then to units, then to numbers; a narrower one shows fewer columns.
struct TableLayout: Hashable {
    enum Column: Hashable {
        case node, channel, last, unit, mean, min, max, count, age, hops, labels
    }

    /// Those that are shown, from the left.
    private(set) var columns: [Column] = [
        .node, .channel, .last, .unit, .mean, .min, .max, .count, .age, .hops,
    ]
    private(set) var node: Int
    private(set) var channel: Int
    /// Of LAST, MEAN, MIN and MAX each.
    private(set) var number = 8
    /// Five columns, so that the longest reason (`command-failed`) fits LAST and UNIT together.
    private(set) var unit = 5
    private(set) var count = 3
    /// What is left where everything else has its place.
    private(set) var labels = 0
    static let ageAndHops = 3
    static let minimum = 30

    /// - Parameters:
    ///   - width: of the terminal; under `minimum` lines are cut.
    ///   - node: columns that the longest name of a node takes; `channel`, `unit` and `labels` as
    ///     well.
    init(
        width: Int, node nodeWanted: Int, channel channelWanted: Int, unit unitWanted: Int,
        labels labelsWanted: Int = 0
    ) {
        (node, channel) = (4, 7)
        let leavable: [[Column]] = [[.hops], [.min, .max], [.count], [.mean], [.age]]
        for some in leavable where width - total + node + channel < Self.namesMin {
            columns.removeAll { some.contains($0) }
        }
        let room = max(width - total + node + channel, Self.namesMin)
        let (nodeWanted, channelWanted) = (max(nodeWanted, 4), max(channelWanted, 7))
        if nodeWanted + channelWanted <= room {
            (node, channel) = (nodeWanted, channelWanted)
        } else {
            let share = room * 2 / 5
            node = min(nodeWanted, max(share, room - channelWanted))
            channel = room - node
        }
        unit += min(max(unitWanted - unit, 0), max(width - total, 0), 8)
        let numbers = columns.count { [.last, .mean, .min, .max].contains($0) }
        number += min(max(width - total, 0) / numbers, 6)
        if columns.contains(.count) { count += min(max(width - total, 0), 3) }
        guard labelsWanted > 0, width - total > Self.labelsMin else { return }
        labels = min(max(labelsWanted, Self.labelsMin), width - total - 1)
        columns.append(.labels)
    }

    private static let labelsMin = 6

    private static let namesMin = 14

    func width(of column: Column) -> Int {
        switch column {
        case .node: node
        case .channel: channel
        case .last, .mean, .min, .max: number
        case .unit: unit
        case .count: count
        case .labels: labels
        case .age, .hops: Self.ageAndHops
        }
    }

    /// With a space between each two columns.
    private var total: Int {
        columns.reduce(columns.count - 1) { $0 + width(of: $1) }
    }
}
