import NearbyCore
import Testing

@testable import Survey

struct EchoReportTests {
    private let map: NetworkMap

    init() throws { map = try Fixtures.map() }

    @Test func anAnswerIsRead() throws {
        let reply = try EchoReply(line: "answered 412345 2 wifi gaaaa-aaaaa the\tbarn  here")
        let echo = try #require(reply.echo)
        #expect(echo.nanoseconds == 412_345)
        #expect(echo.hops == 2)
        #expect(echo.link == "wifi")
        #expect(echo.shortText == "gaaaa-aaaaa")
        #expect(echo.name == "the\tbarn  here")
        #expect(echo.label(map) == "thebarn  here (gaaaa-aaaaa)")
        #expect(try EchoReply(line: "answered 412345 2 - gaaaa-aaaaa ").echo?.name == "")
        #expect(throws: SurveyError.tooOld) { try EchoReply(line: "answered 412345 2") }
        #expect(try EchoReply(line: "silent") == .silent)
        #expect(try EchoReply(line: "no-route") == .noRoute)
    }

    @Test func theRequestNamesWhomToAskAndHowFar() {
        let asked = EchoReply.request(Fixtures.east, hopLimit: 2, patience: .seconds(1))
        #expect(asked == "echo \(Fixtures.east) 2 1000")
        let whole = EchoReply.request(Fixtures.east, hopLimit: nil, patience: .milliseconds(50))
        #expect(whole == "echo \(Fixtures.east) 0 50")
    }

    // MARK: Ping

    @Test func pingIsSummedUp() {
        var report = PingReport(map, Fixtures.east)
        #expect(
            report.head == "PING east (\(Fixtures.short(Fixtures.east))) over the channel with it")
        let first = report.line(Fixtures.answered(Fixtures.east, hops: 3, milliseconds: 2))
        #expect(first == "answer from east: number 1, 3 hops, 2.000 ms")
        let second = report.line(.silent)
        #expect(second == "no answer: number 2")
        _ = report.line(Fixtures.answered(Fixtures.east, hops: 3, milliseconds: 4))
        _ = report.line(Fixtures.answered(Fixtures.east, hops: 3, milliseconds: 12))
        #expect(
            report.summary(took: .milliseconds(3_100)) == [
                "", "--- east ---", "4 asked, 3 answered, 25 % lost, in 3100 ms",
                "round trip min/mean/max/deviation 2.000/6.000/12.00/4.320 ms",
            ])
        let json = "\(report.json(took: .milliseconds(3_100)))"
        #expect(json.contains(#""name":"east","asked":4,"answered":3,"tookMilliseconds":3100"#))
        #expect(json.contains(#""minMicroseconds":2000,"meanMicroseconds":6000"#))
        #expect(json.hasSuffix(#""microseconds":[2000,4000,12000]}"#))
    }

    @Test func pingWithoutAnAnswerHasNoFigures() {
        var report = PingReport(map, Fixtures.barn)
        #expect(report.head.hasSuffix("through the mesh"))
        _ = report.line(.silent)
        #expect(report.summary(took: .zero).last == "1 asked, 0 answered, 100 % lost, in 0 ms")
        #expect("\(report.json(took: .zero))".contains(#""minMicroseconds":null"#))
    }

    @Test func nothingAskedIsNothingLost() {
        let summary = PingReport(map, Fixtures.barn).summary(took: .zero)
        #expect(summary.last == "0 asked, 0 answered, 0 % lost, in 0 ms")
    }

    // MARK: Trace

    private func hop(_ number: Int, _ replies: EchoReply...) -> TraceReport.Hop {
        TraceReport.Hop(number: number, replies: replies)
    }

    @Test func eachHopHasItsLine() {
        var report = TraceReport(map, Fixtures.east)
        let relay = Fixtures.answered(Fixtures.relay, hops: 1, link: "wifi", name: "relay")
        let first = report.line(hop(1, relay, .silent, relay))
        #expect(
            first
                == " 1  relay (eaaaa-aaaaa)                 wifi       1.000 ms         *  1.000 ms"
        )
        // One without support: its line is all stars.
        let second = report.line(hop(2, .silent, .silent, .silent))
        #expect(second.filter { $0 != " " } == "2****")
        #expect(!report.isHopeless && !report.isComplete)
        let end = Fixtures.answered(
            Fixtures.east, hops: 3, milliseconds: 250, link: "bluetooth", name: "east")
        let third = report.line(hop(3, end, end, end))
        #expect(third.hasPrefix(" 3  east (iaaaa-aaaaa)"))
        #expect(third.hasSuffix("bluetooth  250.0 ms  250.0 ms  250.0 ms"))
        #expect(report.isComplete)
        #expect(report.remark == nil)
        let json = "\(report.json)"
        #expect(json.contains(#""reached":true"#))
        #expect(json.contains(#"{"hop":2,"answers":[null,null,null]}"#))
        #expect(json.contains(#""name":"east","link":"bluetooth","microseconds":250000"#))
    }

    /// What a relay calls itself counts where nothing else is known.
    @Test func aRelayIsNamedByItsOwnWord() {
        var report = TraceReport(map, Fixtures.east)
        let barn = Fixtures.answered(Fixtures.barn, hops: 2, link: "ethernet", name: "ba\nrn")
        let line = report.line(hop(1, barn))
        #expect(line.hasPrefix(" 1  barn (gaaaa-aaaaa)"))
    }

    @Test func twoWaysShowBothNodes() {
        var report = TraceReport(map, Fixtures.east)
        let line = report.line(
            hop(
                1, Fixtures.answered(Fixtures.relay, hops: 1),
                Fixtures.answered(Fixtures.north, hops: 1)))
        #expect(line.hasPrefix(" 1  relay"))
        #expect(line.hasSuffix("north (kaaaa-aaaaa)"))
    }

    @Test func whoNeverAnswersEndsIt() {
        var report = TraceReport(map, Fixtures.east)
        var lines = 0
        while !report.isHopeless, lines < 64 {
            lines += 1
            _ = report.line(hop(lines, .silent, .silent, .silent))
        }
        // It is three hops away.
        #expect(lines == 4)
        #expect(report.remark == "east does not answer")
        report.end = Fixtures.answered(Fixtures.east, hops: 3)
        #expect(report.remark?.hasPrefix("east answers over its channel, 3 hops, 1.000 ms") == true)
    }

    @Test func aRouteThatGoesAwayEndsIt() {
        var report = TraceReport(map, Fixtures.east)
        _ = report.line(hop(1, .noRoute))
        #expect(report.isHopeless)
        #expect(report.remark == "no route to east any more")
        var cut = TraceReport(map, Fixtures.east)
        _ = cut.line(hop(1, Fixtures.answered(Fixtures.relay, hops: 1)))
        cut.isCut = true
        #expect(cut.remark == "stopped after 1 hop, as --max-hops says")
    }
}
