import Fleet
import NearbyCore
import Telemetry

/// What is published of one node.
struct TopicNode: Sendable {
    var peer: PeerID
    var name = ""
    var model = ""
    var version = ""
    var labels: [Label] = []
    /// Its level of the topics.
    var segment = ""
    /// As the broker has it; nil: not yet said.
    var isOnline: Bool?
    /// The collector's uptime when it first did not know the node, in this absence.
    var absentSince: Duration?
    /// When it was last heard of, seconds since 1970.
    var seen: Int64 = 0
    /// By name.
    var channels: [String: TopicChannel] = [:]
    /// The description that the broker has, without what changes all the time; and when it was
    /// published, nanoseconds.
    var described: [UInt8] = []
    var describedUTC: Int64 = 0
    /// Of Home Assistant's configurations that the broker has, by object, the bytes' hashes.
    var configs: [String: Int] = [:]

    init(peer: PeerID) { self.peer = peer }
}

struct TopicChannel: Sendable {
    var unit: Unit
    var scale: Int8
    /// Of the newest that was published.
    var utc: Int64?
    var sequence: UInt64 = 0
    var run = RunID(value: 0)
    /// Of the newest that the collector knows of.
    var fleetUTC: Int64?
    var expiry = ExpiryEstimate()
    /// Since when the node, although online, has not had it any more; nanoseconds.
    var missingSince: Int64?

    /// Whether a reading is news, so that the retained state is to be replaced by it.
    func isNews(_ reading: OutputReading, of readingRun: RunID, isHistorical: Bool) -> Bool {
        if let utc {
            if reading.utc < utc { return false }
            if reading.utc == utc, run == readingRun, reading.sequence <= sequence { return false }
        }
        guard let fleetUTC else { return true }
        // Within a minute, what is delivered lags behind what the collector has seen.
        let slack: Int64 = isHistorical ? 0 : 60_000_000_000
        return reading.utc >= fleetUTC - slack
    }
}

extension FleetNode {
    /// What Home Assistant's diagnostic entities read, and whoever looks at the broker. Begins with
    /// what we read from it ourselves after a restart.
    func description(seen: Int64, named name: String) -> (full: [UInt8], steady: [UInt8]) {
        (describe(seen: seen, name, isSteady: false), describe(seen: 0, name, isSteady: true))
    }

    private func lastSeen(_ seconds: Int64) -> String? {
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return seconds <= 0 || overflow ? nil : ReadingJSON.time(nanoseconds)
    }

    private func describe(seen: Int64, _ name: String, isSteady: Bool) -> [UInt8] {
        var json = JSONText()
        json.object { json in
            json.add("peer", peer.description)
            json.add("seen", seen)
            json.add("last_seen", lastSeen(seen))
            json.add("name", name)
            json.add("role", role)
            json.add("model", board)
            json.add("version", version)
            json.add("link", link.isEmpty ? nil : link)
            json.add("via", via?.description)
            json.add("hops", hops)
            json.add("clock", clock.isEmpty ? nil : clock)
            json.key("labels")
            json.object { json in for label in labels { json.add(label.key, label.value) } }
            guard !isSteady else { return }
            json.add("signal", number: signal)
            json.add("battery", number: battery)
            json.add("readings", readingCount)
            json.add("lost", lostCount)
        }
        return json.bytes
    }
}

/// The begin of a node's description, as the broker gives it back.
struct RememberedNode: Hashable, Sendable {
    var peer: PeerID
    /// Seconds since 1970.
    var seen: Int64

    /// Nil for anything that we did not write.
    init?(parsing payload: [UInt8]) {
        var rest = payload[...]
        func skip(_ text: String) -> Bool {
            guard rest.starts(with: text.utf8) else { return false }
            rest = rest.dropFirst(text.utf8.count)
            return true
        }
        guard skip("{\"peer\":\"") else { return nil }
        let id = rest.prefix(30)
        rest = rest.dropFirst(30)
        guard skip("\",\"seen\":"), let peer = PeerID(text: String(decoding: id, as: UTF8.self))
        else { return nil }
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let seen = Int64(String(decoding: digits.prefix(15), as: UTF8.self)) else {
            return nil
        }
        self.peer = peer
        self.seen = seen
    }
}
