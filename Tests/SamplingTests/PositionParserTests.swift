import Foundation
import Telemetry
import Testing

@testable import Sampling

struct PositionParserTests {
    /// With `$`, the checksum and the end of the line.
    private func sentence(_ body: String) -> String {
        let sum = String(body.utf8.reduce(UInt8(0), ^), radix: 16, uppercase: true)
        return "$\(body)*\(sum.utf8.count == 1 ? "0" : "")\(sum)\r\n"
    }

    private func parse(_ bodies: String...) -> [String] {
        var parser = PositionParser()
        return bodies.flatMap { parser.feed(Array(sentence($0).utf8)[...]).map(\.text) }
    }

    private func gga(_ place: String) -> [String] {
        Array(parse("GNGGA,1,\(place),1,08,0.9,5.4,M,4.9,M,,").prefix(2))
    }

    @Test(arguments: [
        ("4807.038,N,01131.000,E", "48.11730", "11.51667"),
        ("4807.038,S,01131.000,W", "-48.11730", "-11.51667"),
        ("4717.11437,N,00833.91522,E", "47.2852395", "8.5652537"),
        ("0000.00,N,00000.00,E", "0.0000", "0.0000"),
        ("9000.0000,N,18000.0000,W", "90.000000", "-180.000000"),
        ("5959.99,N,00000.01,W", "59.9998", "-0.0002"),
        ("4807,N,01131,E", "48.12", "11.52"),
    ])
    func positionsAreExactDecimals(_ place: String, _ latitude: String, _ longitude: String) {
        #expect(gga(place) == ["lat lat \(latitude)", "lon lon \(longitude)"])
    }

    @Test(arguments: [
        "9000.0001,N,18000.0001,E", "4860.000,N,01160.000,E", "4807.038,E,01131.000,N",
        "-4807.038,N,-01131.000,E", "4807.038,,01131.000,", ",N,,E", "1e9,N,1e99,E",
        "4807.1234567890,N,01131.1234567890,E", "9999999999999999999,N,9e18,E", "nan,N,x,E",
        "9223372036854775807,N,922337203685477580.7,E",
    ])
    func whatIsNoPlaceIsRefused(_ place: String) {
        #expect(gga(place) == ["lat lat null:malformed", "lon lon null:malformed"])
    }

    @Test func withoutAFixThePositionIsNull() {
        let none = "GPGGA,123519,,,,,0,03,,,M,,M,,"
        let some = "GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,,M,46.9,M,,"
        #expect(
            parse(none) == [
                "lat lat null:warming-up", "lon lon null:warming-up",
                "altitude m null:warming-up", "satellites 1 3", "hdop 1 null:warming-up",
                "fix 1 0",
            ])
        #expect(
            Array(parse(some, none).suffix(6).prefix(2)) == [
                "lat lat null:absent", "lon lon null:absent",
            ])
        #expect(parse(some)[2] == "altitude m null:absent")
        #expect(
            parse("GPRMC,1,V,,,,,,,230394,,") == [
                "lat lat null:warming-up", "lon lon null:warming-up",
                "speed [kn_i] null:warming-up",
            ])
    }

    /// Five seconds of a real one, from the middle of a sentence on.
    @Test func aReceiverIsUnderstoodAsItSpeaks() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Vectors/mtk3339.nmea").path
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let sentences = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(sentences.count == 21)
        var parser = PositionParser()
        let stream = ",046,27*7B\r\n" + sentences.map { $0 + "\r\n" }.joined()
        let texts = parser.feed(Array(stream.utf8)[...]).map(\.text)
        #expect(parser.losses == SerialLosses())
        let values = Dictionary(grouping: texts) { $0.prefix { $0 != " " } }
        #expect(values["satellites.seen"] == ["satellites.seen 1 14"])
        #expect(values["speed"]?.count == 5)
        #expect(Set(values["speed"] ?? []) == ["speed [kn_i] 0.02"])
        #expect(Set(values["lat"] ?? []) == ["lat lat 45.511678"])
        #expect(
            values["lon"] == [
                "lon lon -122.680085", "lon lon -122.680085", "lon lon -122.680087",
                "lon lon -122.680087", "lon lon -122.680088",
            ])
        #expect(values["altitude"]?[1] == "altitude m 62.1")
        #expect(values["satellites"]?.last == "satellites 1 13")
        #expect(values["hdop"]?.last == "hdop 1 0.73")
        #expect(values["fix"]?.last == "fix 1 2")
        #expect(values["fix.mode"]?.last == "fix.mode 1 3")
    }

    @Test func theSpeedKeepsTheDigitsThatItCameWith() {
        #expect(
            parse("GPRMC,1,A,4807.038,N,01131.000,E,0.004,,230394,,").last
                == "speed [kn_i] 0.004")
        #expect(
            parse("GPRMC,1,A,4807.038,N,01131.000,E,1800,,230394,,").last
                == "speed [kn_i] 1800")
        #expect(
            parse("GPRMC,1,A,4807.038,N,01131.000,E,-1,,230394,,").last
                == "speed [kn_i] null:malformed")
    }

    @Test func whereBothComeThePositionIsThatOfGGA() {
        let both = parse(
            "GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,5.0,M,46.9,M,,",
            "GPRMC,1,A,4907.038,N,01131.000,E,1.0,,230394,,")
        #expect(both.filter { $0.hasPrefix("lat") } == ["lat lat 48.11730"])
    }

    @Test func satellitesInViewAreAddedUp() {
        #expect(
            parse(
                "GPGSV,2,1,08,01,40,083,46", "GPGSV,2,2,08,01,40,083,46", "GLGSV,1,1,05,65,40,083,",
                "GPGSV,1,1,07,01,40,083,46") == [
                    "satellites.seen 1 8", "satellites.seen 1 13", "satellites.seen 1 12",
                ])
        #expect(parse("GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1") == ["fix.mode 1 3"])
    }

    @Test func sentencesWithoutChecksumAndOthersAreNotUsed() {
        var parser = PositionParser()
        let lines = "$GPGGA,1,4807.038,N,01131.000,E,1,08,0.9,5.0,M,,M,,\r\n$GPGGA\r\n$*00\r\n$\r\n"
        #expect(parser.feed(Array(lines.utf8)[...]).isEmpty)
        #expect(parse("GPTXT,01,01,02,u-blox", "PUBX,00", "").isEmpty)
        #expect(parse("GPGGA").count == 6)
    }
}
