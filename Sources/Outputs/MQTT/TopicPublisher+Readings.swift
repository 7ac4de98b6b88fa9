import Fleet
import NearbyCore
import Telemetry

extension TopicPublisher {
    /// What is published of readings: those that are news, in their order; of a batch that is
    /// historical only each channel's newest. Others, if they are wanted, without being retained.
    public mutating func messages(of batch: OutputBatch) -> [Output] {
        for redating in batch.redatings { redate(redating) }
        var outputs: [Output] = []
        for series in batch.series {
            introduce(series, isHistorical: batch.isHistorical, &outputs)
        }
        let newest = batch.isHistorical ? newestReadings(batch) : [:]
        for (index, reading) in batch.readings.enumerated() {
            guard batch.series.indices.contains(reading.series) else { continue }
            let series = batch.series[reading.series]
            guard let node = nodes[series.node.peer], var channel = node.channels[series.channel]
            else {
                leftOutCount += 1
                continue
            }
            channel.expiry.record(reading.utc)
            let isNews =
                channel.isNews(reading, of: series.node.run, isHistorical: batch.isHistorical)
                && (!batch.isHistorical || newest[ChannelKey(series)] == index)
            if isNews {
                channel.utc = reading.utc
                channel.sequence = reading.sequence
                channel.run = series.node.run
            }
            nodes[series.node.peer]?.channels[series.channel] = channel
            guard isNews || options.wantsLate else { continue }
            outputs.append(
                .publish(
                    MQTTMessage(
                        topic(of: series.channel, node), payload(reading, series, isLate: !isNews),
                        isRetained: options.isRetained && isNews, readingCount: 1)))
        }
        return outputs
    }

    private struct ChannelKey: Hashable {
        var peer: PeerID
        var channel: String

        init(_ series: OutputSeries) {
            peer = series.node.peer
            channel = series.channel
        }
    }

    /// For each channel, the place of its newest reading.
    private func newestReadings(_ batch: OutputBatch) -> [ChannelKey: Int] {
        var newest: [ChannelKey: Int] = [:]
        for (index, reading) in batch.readings.enumerated()
        where batch.series.indices.contains(reading.series) {
            let key = ChannelKey(batch.series[reading.series])
            if let former = newest[key], batch.readings[former].utc > reading.utc { continue }
            newest[key] = index
        }
        return newest
    }

    private mutating func redate(_ redating: OutputRedating) {
        guard var node = nodes[redating.peer] else { return }
        for (name, channel) in node.channels {
            guard channel.run == redating.run, let utc = channel.utc,
                redating.formerUTC.contains(utc)
            else { continue }
            node.channels[name]?.utc = nil
        }
        nodes[redating.peer] = node
    }

    private mutating func introduce(
        _ series: OutputSeries, isHistorical: Bool, _ outputs: inout [Output]
    ) {
        // What a node was called formerly is not what it is called; the broker does not say.
        let known = isHistorical ? nodes[series.node.peer]?.name : nil
        let name = known.flatMap { $0.isEmpty ? nil : $0 } ?? series.node.name
        guard var node = node(series.node.peer, named: name, &outputs) else { return }
        node.model = series.node.board
        node.labels = series.node.labels
        var channel =
            node.channels[series.channel] ?? TopicChannel(unit: series.unit, scale: series.scale)
        guard
            node.channels[series.channel] != nil
                || node.channels.count < Limits.channelsPerRunMax
        else { return }
        channel.unit = series.unit
        channel.scale = series.scale
        channel.missingSince = nil
        node.channels[series.channel] = channel
        nodes[series.node.peer] = node
    }

    private func payload(
        _ reading: OutputReading, _ series: OutputSeries, isLate: Bool
    ) -> [UInt8] {
        guard options.isJSON else {
            return Array((reading.outcome.value?.description ?? "null").utf8)
        }
        var json = JSONText()
        json.object { json in
            ReadingJSON.members(&json, reading, of: series)
            if isLate { json.add("late", flag: true) }
        }
        return json.bytes
    }
}
