import Fleet
import NearbyCore
import NodeShell
import Telemetry

/// One answer to the request `fleet` of a collector's control socket: a part of a snapshot.
///
/// What is not known is skipped, what is missing is as if it were empty: the collector may be of a
/// later or an earlier version.
public struct FleetAnswer {
    /// With those nodes that this answer has.
    public var snapshot = FleetSnapshot()
    /// How many nodes to skip for the next part; nil: this is the last.
    public var next: Int?

    /// Nil for what is no such answer.
    public init?(line: String) {
        guard let value = JSONReader.value(line), let collector = FleetCollector(value["collector"])
        else { return nil }
        snapshot.collector = collector
        snapshot.nodes = value["nodes"].items.compactMap { FleetNode($0, at: collector.utc) }
        snapshot.links = value["links"].items.compactMap(FleetLink.init)
        snapshot.outputs = value["outputs"].items.compactMap(OutputStatus.init)
        snapshot.alarms = value["alarms"].items.compactMap(FleetAlarm.init)
        next = value["next"].integer.map { Int(clamping: $0) }
    }

    /// All parts together; `ask` gets the request and gives the answer's line.
    ///
    /// Throws `SurveyError.noFleet` where the node is none that collects.
    public static func whole(_ ask: (String) throws -> String) throws -> FleetSnapshot {
        let first = try ask("fleet")
        guard var whole = FleetAnswer(line: first) else { throw SurveyError.noFleet }
        while let next = whole.next {
            // A part that does not follow, or one too many, is none.
            guard let part = FleetAnswer(line: try ask("fleet \(next)")),
                part.next ?? .max > next, whole.snapshot.nodes.count < nodesMax
            else { break }
            whole.snapshot.nodes += part.snapshot.nodes
            whole.next = part.next
        }
        return whole.snapshot
    }

    private static let nodesMax = 10_000
}

extension FleetCollector {
    fileprivate init?(_ value: JSONValue) {
        guard let peer = value["peer"].peer else { return nil }
        self.init()
        self.peer = peer
        name = value["name"].string ?? ""
        network = value["network"].string ?? ""
        version = value["version"].string ?? ""
        utc = value["utc"].nanoseconds
        uptime = .seconds(value["uptime"].integer ?? 0)
        readingCount = value["readings"].count
        uncommittedCount = Int(clamping: value["uncommitted"].count)
        storeFault = value["storeFault"].string
        storeBytes = value["storeBytes"].integer.map { UInt64(clamping: $0) }
        drops = value["drops"].items.map {
            FleetCount(reason: $0["reason"].string ?? "", count: $0["count"].count)
        }
    }
}

extension FleetNode {
    fileprivate init?(_ value: JSONValue, at utc: Int64) {
        guard let peer = value["peer"].peer else { return nil }
        self.init(
            peer: peer, name: value["name"].string ?? "", role: value["role"].string ?? "")
        storedName = value["storedName"].string
        board = value["board"].string ?? ""
        version = value["version"].string ?? ""
        labels = value["labels"].items.compactMap { pair in
            let items = pair.items.compactMap(\.string)
            return items.count == 2 ? Label(key: items[0], value: items[1]) : nil
        }
        isOnline = value["online"].flag
        age = value["heard"].integer.map { heard in
            let heard = JSONValue.number(heard).nanoseconds
            return .nanoseconds(max(utc.subtractingSaturating(heard), 0))
        }
        via = value["via"].peer
        hops = value["hops"].integer.map { Int(clamping: $0) }
        link = value["link"].string ?? ""
        signal = value["signal"].double
        battery = value["battery"].double
        clock = value["clock"].string ?? ""
        readingCount = value["readings"].count
        lostCount = value["lost"].count
        channels = value["channels"].items.compactMap(FleetChannel.init)
    }
}

extension FleetChannel {
    fileprivate init?(_ value: JSONValue) {
        guard let name = value["name"].string, let unit = Unit(value["unit"].string ?? "")
        else { return nil }
        let outcome: Outcome
        if let decimal = value["value"].decimal {
            outcome = .value(decimal)
        } else {
            outcome = .null(NullReason(name: value["reason"].string ?? ""))
        }
        self.init(
            name: name, unit: unit, scale: Int8(clamping: -(value["digits"].integer ?? 0)),
            last: outcome, utc: value["utc"].nanoseconds,
            hops: UInt8(clamping: value["hops"].integer ?? 0))
        storedName = value["storedName"].string
    }
}

extension FleetLink {
    fileprivate init?(_ value: JSONValue) {
        guard let from = value["from"].peer, let to = value["to"].peer else { return nil }
        self.init(
            from: from, to: to, link: value["link"].string ?? "",
            cost: UInt32(clamping: value["cost"].integer ?? 0),
            lossPercent: value["loss"].double)
        isDirect = value["direct"].flag
    }
}

extension OutputStatus {
    fileprivate init?(_ value: JSONValue) {
        guard let name = value["name"].string else { return nil }
        self.init(
            name: name, kind: value["kind"].string ?? "", target: value["target"].string ?? "")
        phase = value["phase"].string.flatMap(Phase.init) ?? .starting
        waitingCount = value["waiting"].count
        lag = .seconds(value["lag"].integer ?? 0)
        deliveredCount = value["delivered"].count
        refusedCount = value["refused"].count
        lostCount = value["lost"].count
        lastFault = value["fault"].string
        failingSince = value["failingSeconds"].integer.map { .seconds($0) }
    }
}

extension FleetAlarm {
    fileprivate init?(_ value: JSONValue) {
        guard let name = value["name"].string else { return nil }
        self.init(
            name: name, node: value["node"].string ?? "",
            channel: value["channel"].string ?? "", condition: value["condition"].string ?? "",
            isActive: value["active"].flag, since: value["since"].nanoseconds,
            until: value["until"].integer == nil ? nil : value["until"].nanoseconds)
    }
}

extension NullReason {
    /// Of its description; `unspecified` for what is none.
    fileprivate init(name: String) {
        let known = (0...UInt8.max).lazy.map(NullReason.init).first { $0.description == name }
        self = known ?? .unspecified
    }
}

extension JSONValue {
    /// A count; 0 for what is none.
    fileprivate var count: UInt64 { UInt64(clamping: integer ?? 0) }

    /// Of milliseconds.
    fileprivate var nanoseconds: Int64 {
        let (product, isPast) = (integer ?? 0).multipliedReportingOverflow(by: 1_000_000)
        return isPast ? 0 : product
    }

    fileprivate var decimal: DecimalValue? {
        switch self {
        case .number(let number): DecimalValue(coefficient: number)
        case .decimal(let text): try? DecimalValue(parsing: text)
        default: nil
        }
    }

    fileprivate var double: Double? { decimal?.double }
}
