import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import FleetPage

struct EventLogTests {
    private func changed(_ value: Int64, utc: Int64) -> FleetSnapshot {
        var changed = node(1, "north")
        changed.channels[0].last = .value(DecimalValue(coefficient: value, exponent: -2))
        return snapshot([changed], utc: utc)
    }

    @Test func aReaderGetsAllThenWhatChanges() {
        let log = Held(EventLog())
        let place = Held<UInt64?>(nil)
        #expect(log.next(place) == nil)
        #expect(log.add(changed(2_150, utc: 10_000_000_000), now: at(1)))
        #expect(log.next(place)?.hasPrefix("event: fleet\ndata: {") == true)
        #expect(log.next(place) == nil)
        #expect(log.add(changed(2_160, utc: 11_000_000_000), now: at(2)))
        let change = (log.next(place) ?? "")
        #expect(change.hasPrefix("event: change\ndata: {"))
        #expect(change.contains("\"utc\":9000,\"channels\":[[0,21.60]]"))
        #expect(!change.contains("soil"))
        #expect(log.next(place) == nil)
    }

    @Test func whoeverIsTooSlowGetsTheNewestWhole() {
        let log = Held(EventLog())
        let (slow, slower) = (Held<UInt64?>(nil), Held<UInt64?>(nil))
        _ = log.add(changed(0, utc: 0), now: at(0))
        _ = log.next(slow)
        _ = log.next(slower)
        for value in 1...Int64(EventLog.countMax) {
            _ = log.add(changed(value, utc: value * 1_000_000_000), now: at(value))
        }
        #expect(log.next(slow)?.contains("[[0,0.01]") == true)
        _ = log.add(changed(999, utc: 99_000_000_000), now: at(99))
        let newest = (log.next(slower) ?? "")
        #expect(newest.hasPrefix("event: fleet"))
        #expect(newest.contains("9.99"))
        #expect(log.next(slower) == nil)
        // The slow one goes on in order.
        for value in 2...8 {
            #expect(log.next(slow)?.contains("[[0,0.0\(value)]") == true)
        }
        #expect(log.next(slow)?.contains("9.99") == true)
        #expect(log.next(slow) == nil)
    }

    @Test func aTimeOfItsOwnStandsBesideTheValue() {
        var log = EventLog()
        var place: UInt64?
        let old = changed(2_150, utc: 10_000_000_000)
        _ = log.add(old, now: at(1))
        _ = log.next(after: &place)
        var new = old
        new.collector.utc = 11_000_000_000
        new.nodes[0].channels[0].utc = 10_500_000_000
        new.nodes[0].channels[1].last = .null(.absent)
        new.nodes[0].channels[1].utc = 10_700_000_000
        _ = log.add(new, now: at(2))
        let change = text(log.next(after: &place))
        #expect(change.contains("\"utc\":10500,\"channels\":[[0,21.50],[1,null,10700,\"absent\"]]"))
        new.nodes[0].channels[1].utc = 10_500_000_000
        new.nodes[0].channels[0].utc = 10_400_000_000
        new.nodes[0].channels[1].last = .null(.timeout)
        new.collector.utc = 12_000_000_000
        _ = log.add(new, now: at(3))
        #expect(text(log.next(after: &place)).contains("[[0,21.50],[1,null,10500,\"timeout\"]]"))
    }

    @Test func largeChangesComeLessOften() {
        let log = Held(EventLog())
        let many = { (value: Int64) in
            var nodes = (1...1_000).map { node($0, "n\($0)") }
            for index in nodes.indices { nodes[index].channels[0].utc = value }
            return snapshot(nodes, utc: value)
        }
        _ = log.add(many(1_000_000_000), now: at(1))
        #expect(log.add(many(2_000_000_000), now: at(2)))
        #expect(!log.add(many(2_500_000_000), now: Instant(nanoseconds: 2_100_000_000)))
        #expect(log.add(many(9_000_000_000), now: at(9)))
    }

    @Test func nodesThatComeGoAndChangeTheirNamesAreToldWhole() {
        let old = snapshot([node(1, "north"), node(2, "south")])
        var renamed = node(1, hostileName)
        renamed.battery = 12
        let change = text(FleetChange.text(from: old, to: snapshot([renamed, node(3, "east")])))
        let gone = PeerID(high: 2, low: 0)
        #expect(change.contains("\"gone\":[\"\(gone)\"]"))
        #expect(change.contains("\"name\":\"<script>alert(\\\"1\\\")</script>\\\\\""))
        #expect(change.contains("\"battery\":12.0"))
        #expect(change.contains("\"name\":\"east\""))
        #expect(change.contains("\"news\":[]"))
    }

    @Test func aValueWithMorePlacesIsNew() {
        let old = changed(2_150, utc: 10_000_000_000)
        var new = old
        new.nodes[0].channels[0].last = .value(DecimalValue(coefficient: 215, exponent: -1))
        #expect(text(FleetChange.text(from: old, to: new)).contains("[[0,21.5]]"))
    }
}
