import Fleet
import NearbyCore

struct LinkRows: TopRows {
    static let columns = [
        TopColumn("FROM", 8, 40),
        TopColumn("TO", 8, 40),
        TopColumn("LINK", 9, rank: 1),
        TopColumn("COST", 5, isRight: true, rank: 2),
        TopColumn("LOSS%", 5, isRight: true, rank: 3),
    ]

    private let links: [FleetLink]
    private let names: TopNames

    init(_ links: [FleetLink], _ names: TopNames) {
        func key(_ link: FleetLink) -> [String] { [names[link.from], names[link.to]] }
        self.links = links.map { (link: $0, key: key($0)) }.sorted {
            $0.key[0] == $1.key[0]
                ? NaturalOrder.isBefore($0.key[1], $1.key[1])
                : NaturalOrder.isBefore($0.key[0], $1.key[0])
        }.map(\.link)
        self.names = names
    }

    var count: Int { links.count }
    func id(_ row: Int) -> String { "\(links[row].from) \(links[row].to)" }

    func text(_ row: Int) -> [String] {
        [names[links[row].from], names[links[row].to], links[row].link]
    }

    func order(_ row: Int, by column: Int) -> TopOrder {
        switch column {
        case 3: .number(Double(links[row].cost))
        case 4: links[row].lossPercent.map { .number($0) } ?? .nothing
        default: .text(cells(row, { _ in 0 })[column])
        }
    }

    func cells(_ row: Int, _ layout: (Int) -> Int) -> [String] {
        let link = links[row]
        return [
            names[link.from], names[link.to], link.isDirect ? link.link : "behind",
            link.cost == 0 ? "" : String(link.cost), TopText.number(link.lossPercent),
        ]
    }

    func style(_ row: Int) -> TopStyle {
        if links[row].lossPercent ?? 0 >= 20 { return .warning }
        return links[row].isDirect ? .plain : .faint
    }
}

struct OutputRows: TopRows {
    static let columns = [
        TopColumn("OUTPUT", 10, 30),
        TopColumn("STATE", 8),
        TopColumn("WAITING", 7, 12, isRight: true),
        TopColumn("LAG", 4, isRight: true, rank: 1),
        TopColumn("DELIVERED", 9, 14, isRight: true, rank: 2),
        TopColumn("REFUSED", 7, 10, isRight: true, rank: 5),
        TopColumn("LOST", 4, 10, isRight: true, rank: 4),
        TopColumn("TARGET", 10, 40, rank: 3),
        TopColumn("FAULT", 10, 120, rank: 6),
    ]

    let outputs: [OutputStatus]

    var count: Int { outputs.count }
    func id(_ row: Int) -> String { outputs[row].name }

    func text(_ row: Int) -> [String] {
        [outputs[row].name, outputs[row].kind, outputs[row].target, outputs[row].lastFault ?? ""]
    }

    func order(_ row: Int, by column: Int) -> TopOrder {
        let output = outputs[row]
        switch column {
        case 2: return .number(Double(output.waitingCount))
        case 3: return .number(Double(output.lag.nanoseconds))
        case 4: return .number(Double(output.deliveredCount))
        case 5: return .number(Double(output.refusedCount))
        case 6: return .number(Double(output.lostCount))
        default: return .text(cells(row, { _ in 0 })[column])
        }
    }

    func cells(_ row: Int, _ layout: (Int) -> Int) -> [String] {
        let output = outputs[row]
        return [
            output.name, output.phase.rawValue, TopText.count(output.waitingCount),
            TopText.age(output.lag), TopText.count(output.deliveredCount),
            TopText.count(output.refusedCount), TopText.count(output.lostCount), output.target,
            output.lastFault ?? "",
        ]
    }

    func style(_ row: Int) -> TopStyle {
        switch outputs[row].phase {
        case .failing, .stopped: .fault
        case .behind: .warning
        case .starting, .current: .plain
        }
    }
}

struct AlarmRows: TopRows {
    static let columns = [
        TopColumn("ALARM", 10, 30),
        TopColumn("STATE", 6),
        TopColumn("FOR", 4, isRight: true, rank: 2),
        TopColumn("NODE", 8, 40),
        TopColumn("CHANNEL", 8, 40, rank: 1),
        TopColumn("CONDITION", 10, 60, rank: 3),
    ]

    let alarms: [FleetAlarm]
    let utc: Int64

    var count: Int { alarms.count }
    func id(_ row: Int) -> String {
        "\(alarms[row].name) \(alarms[row].node) \(alarms[row].channel) \(alarms[row].since)"
    }

    func text(_ row: Int) -> [String] {
        [alarms[row].name, alarms[row].node, alarms[row].channel, alarms[row].condition]
    }

    func order(_ row: Int, by column: Int) -> TopOrder {
        column == 2
            ? .number(-Double(alarms[row].since)) : .text(cells(row, { _ in 0 })[column])
    }

    func cells(_ row: Int, _ layout: (Int) -> Int) -> [String] {
        let alarm = alarms[row]
        return [
            alarm.name, alarm.isActive ? "ACTIVE" : "ended",
            TopText.age(TopText.age(of: alarm.since, at: alarm.until ?? utc)), alarm.node,
            alarm.channel.isEmpty ? "(silence)" : alarm.channel, alarm.condition,
        ]
    }

    func style(_ row: Int) -> TopStyle { alarms[row].isActive ? .fault : .faint }
}

struct DropRows: TopRows {
    static let columns = [
        TopColumn("REASON", 20, 40),
        TopColumn("COUNT", 8, 20, isRight: true),
        TopColumn("NEW", 6, 12, isRight: true, rank: 1),
    ]

    let drops: [FleetCount]
    let growth: [String: UInt64]

    var count: Int { drops.count }
    func id(_ row: Int) -> String { drops[row].reason }
    func text(_ row: Int) -> [String] { [drops[row].reason] }

    func order(_ row: Int, by column: Int) -> TopOrder {
        switch column {
        case 1: .number(Double(drops[row].count))
        case 2: .number(Double(growth[drops[row].reason] ?? 0))
        default: .text(drops[row].reason)
        }
    }

    func cells(_ row: Int, _ layout: (Int) -> Int) -> [String] {
        let new = growth[drops[row].reason] ?? 0
        return [
            drops[row].reason, TopText.count(drops[row].count), new == 0 ? "" : "+\(new)",
        ]
    }

    func style(_ row: Int) -> TopStyle {
        growth[drops[row].reason] ?? 0 > 0 ? .warning : .plain
    }
}
