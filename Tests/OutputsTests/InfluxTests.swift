import NearbyCore
import Telemetry
import Testing

@testable import Outputs

@Suite struct InfluxTests {
    private let lines = LineProtocol(measurement: "reading")
    private let peer = "\(Batches.peer)"

    private func line(_ series: OutputSeries, _ reading: OutputReading) -> String {
        lines.line(reading, head: lines.head(series))
    }

    @Test func aValueIsAFloatWithTheSensorsDigits() {
        #expect(
            line(Batches.series(), Batches.reading(7))
                == "reading,channel=temperature,node=shed,peer=\(peer),run=0000000000000abc,"
                + "unit=Cel value=21.50,sequence=7i,hops=2i 1700000000123456007\n")
    }

    @Test func aNullHasItsReasonAndNoValue() {
        let line = line(Batches.series(), Batches.reading(7, .null(.timeout)))
        #expect(line.contains(#" reason="timeout",sequence=7i"#))
        #expect(!line.contains("value="))
    }

    @Test(arguments: [
        (#"a,b=c d"#, #"a\,b\=c\ d"#), (#"a\"#, "a＼"), (#"a\b"#, #"a\b"#), (#"a\,b"#, #"a\\,b"#),
        ("a\nb\0c", "a\u{fffd}b\u{fffd}c"), (#""q""#, #""q""#), (#"\\"#, #"\＼"#),
    ])
    func tagsAreEscaped(_ foreign: String, _ escaped: String) {
        #expect(LineProtocol.escaped(foreign) == escaped)
    }

    @Test func measurementsHaveTheirOwnEscapes() {
        let head = LineProtocol(measurement: "a=b,c d").head(Batches.series())
        #expect(head.hasPrefix(#"a=b\,c\ d,"#))
    }

    @Test func stringsInFieldsHaveTheirOwnEscapes() {
        #expect(LineProtocol.quoted("a\"b\\c\n,=") == "\"a\\\"b\\\\c\u{fffd},=\"")
    }

    @Test func emptyTagsAndKeysThatComeTwiceAreLeftOut() {
        let head = lines.head(
            Batches.series(
                unit: .none,
                labels: [
                    Label(key: "a\u{1}", value: "1"), Label(key: "a\u{2}", value: "2"),
                    Label(key: "b", value: ""), Label(key: "k,", value: "v"),
                ]))
        #expect(head.hasSuffix("run=0000000000000abc,label_a\u{fffd}=1,label_k\\,=v"))
    }

    @Test func readingsOfOneInstantStayApart() {
        let times = Set((1...1_000).map { LineProtocol.timestamp(Batches.reading($0)) })
        #expect(times.count == 1_000)
        let utc = Batches.reading(1).utc
        #expect(times.allSatisfy(LineProtocol.timestamps(utc...utc).contains))
    }

    @Test func anyTimeIsOneThatInfluxTakes() {
        for utc in [Int64.min, -1, 0, 999, .max] {
            let time = LineProtocol.timestamp(Batches.reading(.max, utc: utc))
            #expect(time > .min + 1 && time < .max - 1)
        }
        #expect(LineProtocol.timestamp(Batches.reading(5, utc: -1)) == -995)
    }

    @Test func requestsOfVersion1() {
        let requests = InfluxRequests(
            .database("my db", policy: "a&b"), measurement: "rea\"ding")
        #expect(requests.write([1]).target == "/write?db=my%20db&precision=ns&rp=a%26b")
        #expect(
            requests.create.map { String(decoding: $0.body, as: UTF8.self) }
                == "q=CREATE%20DATABASE%20%22my%20db%22")
        let redating = OutputRedating(
            peer: Batches.peer, run: Batches.run, formerUTC: 1_000...2_500)
        let delete = requests.delete(redating)
        #expect(delete.path == "/query")
        let body = String(decoding: delete.body, as: UTF8.self)
        #expect(body.contains("DELETE%20FROM%20%22rea%5C%22ding%22%20WHERE"))
        #expect(body.hasSuffix("time%20%3E%3D%201000%20AND%20time%20%3C%3D%202999"))
    }

    @Test func requestsOfVersion2() {
        let requests = InfluxRequests(
            .bucket("b", organisation: "o"), measurement: "reading")
        #expect(requests.create == nil)
        #expect(requests.write([]).target == "/api/v2/write?org=o&bucket=b&precision=ns")
        let redating = OutputRedating(
            peer: Batches.peer, run: Batches.run,
            formerUTC: 1_700_000_000_000_000_000...1_709_164_800_000_000_000)
        #expect(
            String(decoding: requests.delete(redating).body, as: UTF8.self)
                == #"{"start":"2023-11-14T22:13:20.000000000Z","#
                + #""stop":"2024-02-29T00:00:00.000001000Z","#
                + #""predicate":"_measurement=\"reading\" AND peer=\"\#(peer)\" AND "#
                + #"run=\"0000000000000abc\""}"#)
    }

    // MARK: What is there

    @Test func whatIsThereIsAskedRunByRunInPieces() {
        let other = RunID(value: 0xdef)
        let readings =
            [1, 2, 250, 251, 900].map { Batches.reading($0) }
            + [901, 5].map { Batches.reading($0, series: 1) } + [Batches.reading(6, series: 7)]
        let batch = Batches.batch([Batches.series(), Batches.series(run: other)], readings)
        let questions = InfluxPresence.questions(about: batch)
        #expect(questions.map(\.node.run) == [Batches.run, other])
        #expect(questions.map(\.numbers) == [1...900, 5...901])
        #expect(
            questions.map { $0.pieces.map { $0.readings.map(\.sequence) } }
                == [[[1, 2, 250], [251], [900]], [[901], [5]]])
        let requests = InfluxRequests(.database("d", policy: "p"), measurement: "m")
        let body = String(
            decoding: requests.present(questions[0]).body, as: UTF8.self)
        #expect(body.contains("%22sequence%22%20%3E%3D%201%20AND%20%22sequence%22%20%3C%3D%20900"))
        #expect(body.contains("time%20%3E%3D%201700000000123456001%20AND%20time%20%3C%3D"))
        #expect(body.hasSuffix("&db=d&rp=p"))
        #expect(requests.present(questions[0]).headers == ["Accept: application/csv"])
        let any = InfluxRequests(.bucket("b", organisation: "o"), measurement: "m")
            .anyPresent(questions[0])
        #expect(String(decoding: any.body, as: UTF8.self).hasSuffix("LIMIT%201&db=b"))
        #expect(any.headers.isEmpty)
    }

    @Test(arguments: [
        "name,tags,time,sequence\nm,,1700000000123456007,7\n",
        "name,tags,time,sequence\r\n\"a,\"\"b\",,1700000000123456007,7\r\nm,,1,9",
    ])
    func whatIsThereIsReadFromTheEndsOfLines(_ answer: String) {
        var presence = InfluxPresence()
        presence.add(Array(answer.utf8), of: Batches.series().node)
        #expect(!presence.isEmpty)
        #expect(presence.has(Batches.reading(7), of: Batches.series().node))
        #expect(!presence.has(Batches.reading(8), of: Batches.series().node))
        let later = Batches.series(run: RunID(value: 5)).node
        #expect(!presence.has(Batches.reading(7), of: later), "that of another run is another")
        #expect(
            !presence.has(
                Batches.reading(7, utc: 1_700_000_000_123_457_789), of: Batches.series().node))
    }

    @Test func aRowInJSONIsSomething() {
        let row = #"{"results":[{"series":[{"name":"m","values":[[1700000000123456007,7]]}]}]}"#
        #expect(InfluxPresence.isAny(in: Array(row.utf8)))
        for nothing in ["", #"{"results":[{"statement_id":0}]}"#, #"{"error":"no mapping"}"#] {
            #expect(!InfluxPresence.isAny(in: Array(nothing.utf8)))
        }
    }

    @Test(arguments: [
        "", "\n", "\n\n,,\n", "error\n\"database not found: \"\"x\"\"\"\n", "<html>\n</html>\n",
        "m,,1700000000123456007,7", "m,,99999999999999999999,7\n", "m,,1,2,x\n", ",\n7\n",
    ])
    func nonsenseSaysThatNothingIsThere(_ answer: String) {
        var presence = InfluxPresence()
        presence.add(Array(answer.utf8), of: Batches.series().node)
        #expect(presence.isEmpty)
    }

    @Test func timesBefore1970() {
        #expect(InfluxTime.text(-1) == "1969-12-31T23:59:59.999999999Z")
        #expect(InfluxTime.text(.min) == "1677-09-21T00:12:43.145224192Z")
        #expect(InfluxTime.text(.max) == "2262-04-11T23:47:16.854775807Z")
    }

    // MARK: Answers

    private func answer(_ status: Int, _ body: String) -> InfluxAnswer {
        InfluxAnswer(
            HTTPAnswer(status: status, body: Array(body.utf8)), at: "h:1",
            .database("d", policy: ""), hiding: ["hunter2"])
    }

    @Test func partialWritesSayHowManyAreLost() {
        #expect(
            answer(400, #"{"error":"partial write: points beyond retention policy dropped=12"}"#)
                == .partlyRefused(
                    count: 12, why: "partial write: points beyond retention policy dropped=12"))
        #expect(
            answer(400, #"{"error":"partial write: x dropped=99999999999999999999"}"#)
                == .partlyRefused(
                    count: 999_999_999, why: "partial write: x dropped=99999999999999999999"))
    }

    @Test func whatIsNoSuccessOfInfluxIsNone() {
        guard case .fault(let fault) = answer(200, "<html>") else {
            Issue.record("a page counts as success")
            return
        }
        #expect(fault.kind == .unsuitable)
        #expect(answer(204, "") == .written)
        #expect(answer(404, #"{"error":"database not found: \"d\""}"#) == .missing)
        #expect(
            answer(400, #"{"error":"unable to parse 'x'"}"#)
                == .disliked(why: "unable to parse 'x'"))
    }

    @Test func secretsAreNotRepeated() {
        guard case .fault(let fault) = answer(401, #"{"error":"no hunter2 here"}"#) else {
            Issue.record("401 is no fault")
            return
        }
        #expect(fault.kind == .refused)
        #expect(!fault.description.contains("hunter2"))
    }
}
