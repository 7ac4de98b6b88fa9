import Fleet
import NearbyCore
import Telemetry

extension Limits {
    /// Devices of one edge node.
    static let sparkplugDevicesMax = 20_000
    /// Metrics of one DDATA.
    static let sparkplugMetricsPerMessage = 500
}

/// A collector as an edge node of Sparkplug B 3.0, its nodes as devices: pure.
///
/// Whoever drives it connects with `death` as last will, publishes `birth`, and from then on what
/// readings and snapshots give. The numbers of messages count up over all of them, 0…255.
public struct SparkplugEdge: Sendable {
    static let rebirth = "Node Control/Rebirth"

    private let group: String
    private let edge: String
    /// Of the connection: birth and death certificates of one carry the same.
    private var birthDeathSequence: UInt8
    private var sequence: UInt8 = 0
    private var nextAlias: UInt64 = 1
    var devices: [PeerID: SparkplugDevice] = [:]
    private var book = SegmentBook()
    private var version = ""
    /// What its operator should know; taken by whoever logs it.
    public var remarks: [String] = []
    /// Readings of nodes and channels that there was no room for; taken by whoever counts them.
    public var leftOutCount = 0

    /// - Parameter start: where the numbers of connections begin: another one for each process.
    public init(group: String, edge: String, start: UInt8) {
        self.group = group
        self.edge = edge
        birthDeathSequence = start
    }

    // MARK: Topics

    private func topic(_ type: String, _ device: String? = nil) -> String {
        "spBv1.0/\(group)/\(type)/\(edge)" + (device.map { "/" + $0 } ?? "")
    }

    /// What commands come under.
    public var commandTopic: String { topic("NCMD") }

    // MARK: Connections

    /// A new connection is to be made: nothing is born.
    public mutating func connect() {
        birthDeathSequence &+= 1
        for peer in devices.keys { devices[peer]?.isBorn = false }
    }

    /// The death certificate, which is the connection's last will.
    /// - Parameter utc: milliseconds since 1970, here and below.
    public func death(utc: Int64) -> MQTTMessage {
        var payload = SparkplugPayload(timestamp: utc)
        payload.metrics = [birthDeathMetric(utc, hasDatatype: true)]
        return MQTTMessage(topic("NDEATH"), payload.bytes, isRetained: false)
    }

    private func birthDeathMetric(_ utc: Int64, hasDatatype: Bool) -> SparkplugMetric {
        SparkplugMetric(
            name: "bdSeq", timestamp: utc, hasDatatype: hasDatatype,
            value: .int64(Int64(birthDeathSequence)))
    }

    /// The edge node's birth certificate, and those of the devices that are there.
    public mutating func birth(utc: Int64) -> [MQTTMessage] {
        sequence = 0
        let metrics = [
            birthDeathMetric(utc, hasDatatype: true),
            SparkplugMetric(
                name: Self.rebirth, timestamp: utc, hasDatatype: true, value: .boolean(false)),
            SparkplugMetric(
                name: "Properties/Software", timestamp: utc, hasDatatype: true,
                value: .string("Rivulet" + (version.isEmpty ? "" : " " + version))),
        ]
        var messages = [message("NBIRTH", nil, metrics, utc)]
        for peer in devices.keys.sorted() {
            guard devices[peer]?.isOnline == true else {
                devices[peer]?.isBorn = false
                continue
            }
            messages += birth(of: peer, utc: utc)
        }
        return messages
    }

    /// What a command leads to.
    public mutating func receive(_ payload: [UInt8], utc: Int64) -> [MQTTMessage] {
        SparkplugCommand.isRebirth(payload) ? birth(utc: utc) : []
    }

    /// A message with the next number. All but death certificates are sent without being
    /// acknowledged (§6.4.6 and on): a fence behind them does that.
    private mutating func message(
        _ type: String, _ device: String?, _ metrics: [SparkplugMetric], _ utc: Int64,
        readingCount: Int = 0
    ) -> MQTTMessage {
        let payload = SparkplugPayload(timestamp: utc, sequence: sequence, metrics: metrics)
        sequence &+= 1
        return MQTTMessage(
            topic(type, device), payload.bytes, isRetained: false, isAcknowledged: false,
            readingCount: readingCount)
    }

    private mutating func birth(of peer: PeerID, utc: Int64) -> [MQTTMessage] {
        guard var device = devices[peer] else { return [] }
        device.isBorn = true
        device.absentSince = nil
        devices[peer] = device
        return [message("DBIRTH", device.segment, device.birthMetrics(utc), utc)]
    }

    // MARK: Readings

    /// - Parameter utc: now.
    public mutating func messages(of batch: OutputBatch, utc: Int64) -> [MQTTMessage] {
        var messages: [MQTTMessage] = []
        for series in batch.series {
            introduce(series, isHistorical: batch.isHistorical, utc, &messages)
        }
        var open: PeerID?
        var metrics: [SparkplugMetric] = []
        func flush(_ edge: inout SparkplugEdge) {
            guard let peer = open, !metrics.isEmpty else { return }
            messages += edge.data(of: peer, metrics, utc: utc)
            metrics = []
        }
        for reading in batch.readings where batch.series.indices.contains(reading.series) {
            let series = batch.series[reading.series]
            let peer = series.node.peer
            if peer != open || metrics.count >= Limits.sparkplugMetricsPerMessage {
                flush(&self)
                open = peer
            }
            if let metric = metric(reading, series, isHistorical: batch.isHistorical) {
                metrics.append(metric)
            }
        }
        flush(&self)
        return messages
    }

    private mutating func introduce(
        _ series: OutputSeries, isHistorical: Bool, _ utc: Int64, _ messages: inout [MQTTMessage]
    ) {
        let node = series.node
        // What a node was called formerly is not what it is called.
        let known = isHistorical ? devices[node.peer]?.name : nil
        guard var device = device(node.peer, named: known ?? node.name, utc, &messages) else {
            return
        }
        device.model = node.board
        device.labels = node.labels
        if device.introduce(
            series.channel, series.unit, series.scale, alias: nextAlias)
        {
            nextAlias += 1
        }
        devices[node.peer] = device
    }

    /// The device with its name as it is now; nil if there are too many. Under a former name it
    /// dies.
    private mutating func device(
        _ peer: PeerID, named name: String, _ utc: Int64, _ messages: inout [MQTTMessage]
    ) -> SparkplugDevice? {
        var device = devices[peer] ?? SparkplugDevice(peer: peer)
        if devices[peer] == nil, devices.count >= Limits.sparkplugDevicesMax { return nil }
        let answer = book.segment(of: peer, named: name)
        if device.segment != answer.segment, device.isBorn {
            messages.append(death(of: device, utc: utc))
            device.isBorn = false
        }
        device.name = name
        if case .new(let segment, _, let rival?) = answer {
            remarks.append(
                "two nodes are called \(TopicSegment.escaped(name)): \(rival) is the device "
                    + "\(TopicSegment.escaped(name)), \(peer) is \(segment); give one of them "
                    + "another name")
        }
        device.segment = answer.segment
        return device
    }

    private mutating func metric(
        _ reading: OutputReading, _ series: OutputSeries, isHistorical: Bool
    ) -> SparkplugMetric? {
        let peer = series.node.peer
        guard var channel = devices[peer]?.channels[series.channel] else {
            leftOutCount += 1
            return nil
        }
        let milliseconds = reading.utc.dividedDown(by: 1_000_000).quotient
        let isLate = isHistorical || milliseconds < channel.utc
        if !isLate {
            channel.utc = milliseconds
            channel.last = reading.outcome
            devices[peer]?.channels[series.channel] = channel
        }
        return SparkplugMetric(
            alias: channel.alias, timestamp: milliseconds, isHistorical: isLate,
            value: SparkplugMetric.Value(reading.outcome))
    }

    /// Data of a device, which is born first where it is not.
    private mutating func data(
        of peer: PeerID, _ metrics: [SparkplugMetric], utc: Int64
    ) -> [MQTTMessage] {
        guard let device = devices[peer] else { return [] }
        let births = device.isBorn ? [] : birth(of: peer, utc: utc)
        return births + [
            message("DDATA", device.segment, metrics, utc, readingCount: metrics.count)
        ]
    }

    // MARK: Nodes

    /// Births of nodes that came, deaths of those that went.
    public mutating func messages(of fleet: FleetSnapshot, utc: Int64) -> [MQTTMessage] {
        version = fleet.collector.version
        var messages: [MQTTMessage] = []
        let isSettled = fleet.collector.uptime >= Limits.brokerPatience
        for node in fleet.nodes where !node.name.isEmpty && !node.channels.isEmpty {
            guard var device = device(node.peer, named: node.name, utc, &messages) else {
                continue
            }
            // Soon after a start, silence says nothing yet.
            let isGone = !node.isOnline && (device.isOnline || isSettled)
            device.isOnline = node.isOnline
            device.version = node.version
            for channel in node.channels.prefix(Limits.channelsPerRunMax) {
                let isNew = device.introduce(
                    channel.name, channel.unit, channel.scale, alias: nextAlias)
                if isNew { nextAlias += 1 }
            }
            devices[node.peer] = device
            if node.isOnline, !device.isBorn {
                messages += birth(of: node.peer, utc: utc)
            } else if isGone, device.isBorn {
                messages.append(death(of: device, utc: utc))
            }
        }
        return messages + deathsOfAbsent(fleet, utc)
    }

    /// Devices that only late readings have named: of boards that ended while no collector was
    /// there.
    private mutating func deathsOfAbsent(_ fleet: FleetSnapshot, _ utc: Int64) -> [MQTTMessage] {
        // Before the first snapshot everybody is absent.
        guard fleet.collector.utc > 0 else { return [] }
        let uptime = fleet.collector.uptime
        let present = Set(
            fleet.nodes.filter { $0.isOnline || !$0.channels.isEmpty }.map(\.peer))
        var messages: [MQTTMessage] = []
        for peer in devices.keys.sorted() where !present.contains(peer) {
            guard let device = devices[peer], device.isBorn else { continue }
            let since = device.absentSince ?? uptime
            devices[peer]?.absentSince = since
            guard uptime - since >= Limits.brokerPatience else { continue }
            messages.append(death(of: device, utc: utc))
        }
        return messages
    }

    private mutating func death(of device: SparkplugDevice, utc: Int64) -> MQTTMessage {
        devices[device.peer]?.isBorn = false
        devices[device.peer]?.isOnline = false
        return message("DDEATH", device.segment, [], utc)
    }
}
