import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import Outputs

@Suite struct RemoteWriteTests {
    private func labels(_ series: RemoteSeries) -> [String: String] {
        Dictionary(series.labels.map { ($0.name, $0.value) }) { first, _ in first }
    }

    @Test func aMessageIsWhatProtobufWants() {
        let series = RemoteSeries(
            labels: [.init(name: "__name__", value: "up")],
            samples: [.init(time: 1_700_000_000_123, value: 21.5), .init(time: -1, value: 0)])
        #expect(
            RemoteWrite.message([series])
                == [
                    0x0a, 0x38,  // TimeSeries, 56 bytes
                    0x0a, 0x0e, 0x0a, 0x08, 0x5f, 0x5f, 0x6e, 0x61, 0x6d, 0x65, 0x5f, 0x5f,
                    0x12, 0x02, 0x75, 0x70,  // Label: __name__, up
                    0x12, 0x10, 0x09, 0, 0, 0, 0, 0, 0x80, 0x35, 0x40,  // Sample: 21.5
                    0x10, 0xfb, 0xd0, 0x95, 0xff, 0xbc, 0x31,  // at 1,700,000,000,123
                    0x12, 0x14, 0x09, 0, 0, 0, 0, 0, 0, 0, 0,  // Sample: 0
                    0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,  // at −1
                ] as [UInt8])
    }

    @Test func runsOfAChannelAreOneSeriesInOrder() {
        let second: Int64 = 1_000_000_000
        let batch = Batches.batch(
            [Batches.series(), Batches.series(run: RunID(value: 9)), Batches.series("b.x")],
            [
                Batches.reading(5, utc: 3 * second), Batches.reading(1, utc: 9 * second, series: 2),
                Batches.reading(1, utc: 2 * second, series: 1),
            ])
        let (series, left) = RemoteWrite.series(of: batch)
        #expect(left == 0)
        #expect(
            series.map { labels($0)["__name__"] }
                == ["rivulet_channelb_x_celsius", "rivulet_temperature_celsius"])
        #expect(series.last?.samples.map(\.time) == [2_000, 3_000])
        #expect(series.allSatisfy { $0.labels.map(\.name) == $0.labels.map(\.name).sorted() })
    }

    @Test func ofOneMillisecondTheLastStands() {
        let batch = Batches.batch(
            [Batches.series()],
            [
                Batches.reading(2, utc: 1_000_001, .value(DecimalValue(coefficient: 2))),
                Batches.reading(1, utc: 1_000_000, .value(DecimalValue(coefficient: 1))),
            ])
        let (series, left) = RemoteWrite.series(of: batch)
        #expect(series.first?.samples == [.init(time: 1, value: 2)])
        #expect(left == 1)
    }

    @Test func aNullEndsTheSeries() throws {
        let batch = Batches.batch([Batches.series()], [Batches.reading(1, .null(.timeout))])
        let sample = try #require(RemoteWrite.series(of: batch).series.first?.samples.first)
        #expect(sample.value.bitPattern == 0x7ff0_0000_0000_0002)
    }

    @Test func valuesAreInTheBaseUnit() throws {
        let humid = Batches.series("humidity", unit: .relativeHumidity)
        let batch = Batches.batch(
            [humid], [Batches.reading(1, .value(DecimalValue(coefficient: 555, exponent: -1)))])
        #expect(RemoteWrite.series(of: batch).series.first?.samples.first?.value == 0.555)
    }

    @Test func timesBefore1970AreRoundedDown() {
        let batch = Batches.batch([Batches.series()], [Batches.reading(1, utc: -1)])
        #expect(RemoteWrite.series(of: batch).series.first?.samples.first?.time == -1)
    }

    @Test func readingsOfNoSeriesAreNoTrap() {
        let batch = Batches.batch([], [Batches.reading(1, series: 3)])
        #expect(RemoteWrite.series(of: batch).series.isEmpty)
    }

    // MARK: Ends

    private func ends(_ ledger: inout SeriesLedger) -> [String] {
        ledger.takeEnded().map { series in
            #expect(series.samples.map(\.value.bitPattern) == [0x7ff0_0000_0000_0002])
            let labels = labels(series)
            return [
                labels["__name__"] ?? "", labels["node"] ?? "", labels["label_site"] ?? "",
                series.samples.map { String($0.time) }.joined(),
            ].joined(separator: " ")
        }
    }

    private func fleet(isOnline: Bool, milliseconds: Int64) -> FleetSnapshot {
        var fleet = FleetSnapshot()
        fleet.collector.utc = milliseconds * 1_000_000
        var node = FleetNode(peer: Batches.peer, name: "shed", role: "agent")
        node.isOnline = isOnline
        fleet.nodes = [node]
        return fleet
    }

    @Test func aSeriesEndsWhenItHasAnotherNameLabelOrUnit() {
        var ledger = SeriesLedger()
        func write(_ series: OutputSeries, _ utc: Int64) -> [String] {
            ledger.apply(Batches.batch([series], [Batches.reading(1, utc: utc * 1_000_000)]))
            return ends(&ledger)
        }
        #expect(write(Batches.series(), 5) == [])
        #expect(write(Batches.series(), 7) == [])
        #expect(write(Batches.series(node: "hut"), 9) == ["rivulet_temperature_celsius shed  8"])
        let site = [Label(key: "site", value: "hill")]
        let labelled = Batches.series(node: "hut", labels: site)
        #expect(write(labelled, 11) == ["rivulet_temperature_celsius hut  10"])
        #expect(
            write(Batches.series("t", node: "hut", labels: site), 13)
                == ["rivulet_temperature_celsius hut hill 12"])
        // Another run, in which the number is another channel's: both go on.
        let next = Batches.series(node: "hut", labels: site, run: RunID(value: 9))
        #expect(write(next, 15) == [])
        #expect(write(next, 16) == [])
    }

    @Test func lateReadingsEndNothing() {
        var ledger = SeriesLedger()
        ledger.apply(Batches.batch([Batches.series()], [Batches.reading(1)]))
        var late = Batches.batch([Batches.series(node: "hut")], [Batches.reading(1, utc: 5)])
        late.isHistorical = true
        ledger.apply(late)
        #expect(ends(&ledger) == [])
    }

    /// Such as those whose board's clock became known a moment later.
    @Test func theEndIsBehindLateReadingsToo() {
        var ledger = SeriesLedger()
        ledger.apply(Batches.batch([Batches.series()], [Batches.reading(1, utc: 5_000_000)]))
        ledger.apply(fleet(isOnline: true, milliseconds: 7))
        var late = Batches.batch([Batches.series()], [Batches.reading(2, utc: 6_000_000)])
        late.isHistorical = true
        ledger.apply(late)
        ledger.apply(fleet(isOnline: false, milliseconds: 5_200))
        #expect(ends(&ledger) == ["rivulet_temperature_celsius shed  7"])
    }

    @Test func theSeriesOfANodeThatGoesEndOnce() {
        var ledger = SeriesLedger()
        ledger.apply(Batches.batch([Batches.series()], [Batches.reading(1, utc: 5_000_000)]))
        // A snapshot from before it came.
        ledger.apply(fleet(isOnline: false, milliseconds: 6))
        #expect(ends(&ledger) == [])
        ledger.apply(fleet(isOnline: true, milliseconds: 5_100))
        #expect(ends(&ledger) == [])
        ledger.apply(fleet(isOnline: false, milliseconds: 5_200))
        #expect(ends(&ledger) == ["rivulet_temperature_celsius shed  6"])
        ledger.apply(fleet(isOnline: false, milliseconds: 5_300))
        #expect(ends(&ledger) == [])
    }

    @Test func whatTheServerHasForgottenIsForgotten() {
        var ledger = SeriesLedger()
        ledger.apply(Batches.batch([Batches.series()], [Batches.reading(1, utc: 5_000_000)]))
        ledger.apply(fleet(isOnline: true, milliseconds: 299_000))
        ledger.apply(fleet(isOnline: true, milliseconds: 301_000))
        ledger.apply(fleet(isOnline: false, milliseconds: 302_000))
        #expect(ends(&ledger) == [])
        // A null has marked it already.
        ledger.apply(Batches.batch([Batches.series()], [Batches.reading(2, .null(.timeout))]))
        ledger.apply(Batches.batch([Batches.series(node: "hut")], [Batches.reading(3)]))
        #expect(ends(&ledger) == [])
    }

    // MARK: Answers

    private func answer(_ status: Int, _ body: String = "") -> RemoteWriteAnswer {
        RemoteWriteAnswer(HTTPAnswer(status: status, body: Array(body.utf8)), at: "h:1")
    }

    @Test func lateSamplesAreRefusedForGood() {
        #expect(
            answer(400, "out of order sample\n")
                == .refused(why: "out of order sample", isAboutTime: true))
        #expect(
            answer(500, "too old sample") == .refused(why: "too old sample", isAboutTime: true))
        #expect(
            answer(400, "bad label") == .refused(why: "bad label", isAboutTime: false))
    }

    @Test(arguments: [200, 202, 204])
    func successIsWhatTheServerCallsSo(_ status: Int) {
        #expect(answer(status) == .written)
    }

    @Test func aPageIsNoSuccess() {
        guard case .fault(let fault) = answer(200, "<html>") else {
            Issue.record("a page counts as success")
            return
        }
        #expect(fault.kind == .unsuitable)
    }

    @Test func aServerWithoutReceiverIsTold() {
        guard case .fault(let fault) = answer(404, "remote write receiver needs to be enabled")
        else {
            Issue.record("404 is no fault")
            return
        }
        #expect(fault.description.contains("--web.enable-remote-write-receiver"))
    }
}
