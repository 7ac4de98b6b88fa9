import Collector
import Fleet
import NearbyCore
import Store

/// What the store says to a question of the page, as JSON.
enum StoreAnswer {
    static func text(
        _ query: PageQuery, _ reader: StoreReader, words: FleetWords = .none
    ) throws(StoreError) -> [UInt8] {
        var json = JSONText()
        switch query {
        case .chart(let query):
            let chart = try chart(query, reader, words)
            json.object { chart.write(&$0) }
        case .lines(let query): try addLines(query, reader, words, &json)
        case .gaps(let peer): try addGaps(peer, reader, &json)
        case .mesh(let utc):
            let links = try reader.mesh(at: utc)
            let begin = try reader.meshBegin()
            let names = try StoredNodes(reader).names(
                of: Set(links.flatMap { [$0.from, $0.to] }))
            json.object { json in
                json.add("begin", begin.map { $0 / 1_000_000 })
                json.key("links")
                json.array(links) { FleetJSON.link(&$0, $1) }
                json.key("nodes")
                json.array(names.sorted { $0.key < $1.key }) { json, entry in
                    json.object { json in
                        json.add("peer", entry.key.description)
                        json.add("name", words.name(of: entry.key, named: entry.value))
                    }
                }
            }
        }
        return json.bytes
    }

    // MARK: Charts

    private static func chart(
        _ query: ChartQuery, _ reader: StoreReader, _ words: FleetWords
    ) throws(StoreError) -> ChartBuilder {
        let channel = try reader.storedChannel(query.channel, of: query.peer, words)
        var wanted = StoreQuery(query.peer, query.range)
        wanted.channels = [Glob(channel)]
        let width = reader.windowWidth ?? .seconds(10)
        // Where windows would be too coarse, the readings themselves.
        if query.range.length <= width.nanoseconds * readingsBelow {
            var chart = ChartBuilder(query.range, points: query.points, words: words)
            try reader.readings(wanted) { series, reading in
                // A name may be a pattern that others match too.
                if series.channel == channel { chart.add(series, reading) }
                return true
            }
            return chart
        }
        let (chartWidth, step) = stored(query.range, points: query.points, reader)
        var chart = ChartBuilder(
            query.range, points: query.points, width: step, words: words)
        try reader.windows(wanted, width: chartWidth) { series, window in
            if series.channel == channel { chart.add(series, window) }
            return true
        }
        return chart
    }

    /// The stored windows that are narrow enough for so many points, and their width in
    /// nanoseconds.
    private static func stored(
        _ range: TimeRange, points: Int, _ reader: StoreReader
    ) -> (width: Duration, nanoseconds: Int64) {
        let width = reader.chartWidth(range.length / Int64(max(1, points)))
        return (width, width.nanoseconds)
    }

    /// Windows of a range under which its readings are shown.
    private static let readingsBelow: Int64 = 90

    private static func addLines(
        _ query: LinesQuery, _ reader: StoreReader, _ words: FleetWords, _ json: inout JSONText
    ) throws(StoreError) {
        let (width, step) = stored(query.range, points: Limits.linePoints, reader)
        var charts: [String: ChartBuilder] = [:]
        try reader.windows(StoreQuery(query.peer, query.range), width: width) { series, window in
            charts[
                series.channel,
                default: ChartBuilder(
                    query.range, points: Limits.linePoints, width: step, words: words)
            ].add(series, window)
            return true
        }
        json.object { json in
            json.key("channels")
            json.array(charts.sorted { $0.key < $1.key }) { json, entry in
                json.object { json in
                    json.add("name", entry.key)
                    entry.value.write(&json)
                }
            }
        }
    }

    // MARK: Gaps

    /// The newest come last; no more than the last `gapsMax`.
    private static func addGaps(
        _ peer: PeerID?, _ reader: StoreReader, _ json: inout JSONText
    ) throws(StoreError) {
        var query = StoreQuery()
        query.peers = peer.map { [.id($0)] } ?? []
        let gaps = try reader.gaps(query).sorted {
            ($0.from ?? .min, $0.peer, $0.gap.range.lowerBound)
                < ($1.from ?? .min, $1.peer, $1.gap.range.lowerBound)
        }
        json.object { json in
            json.add("total", gaps.count)
            json.key("gaps")
            json.array(gaps.suffix(gapsMax)) { json, gap in
                let range = gap.gap.range
                json.object { json in
                    json.add("peer", gap.peer.description)
                    json.add("node", gap.node)
                    json.add("run", gap.gap.run.description)
                    json.add("first", range.lowerBound)
                    // Of an open one nobody knows where it ends.
                    json.add(
                        "count",
                        gap.gap.isOpen ? nil : range.upperBound - range.lowerBound)
                    json.add("reason", gap.gap.reason.description)
                    // Of the readings on either side; null where none is stored.
                    json.add("from", gap.from.map { $0 / 1_000_000 })
                    json.add("to", gap.to.map { $0 / 1_000_000 })
                }
            }
        }
    }

    private static let gapsMax = 500
}

extension StoreQuery {
    init(_ peer: PeerID, _ range: TimeRange) {
        self.init()
        peers = [.id(peer)]
        from = range.from
        to = range.to
    }
}
