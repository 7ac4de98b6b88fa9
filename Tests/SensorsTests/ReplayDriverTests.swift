import NearbyCore
import Telemetry
import Testing

@testable import Sampling
@testable import Sensors

struct ReplayDriverTests {
    private let folder = TemporaryFolder()

    private func driver(_ text: String, speed: Int = 1) -> ReplayDriver {
        ReplayDriver(file: folder.write("day.csv", text), speed: speed)
    }

    private func texts(_ driver: ReplayDriver, at time: Int64) -> [String] {
        driver.sample(atMilliseconds: time).map(\.text)
    }

    @Test func rowsComeWhenTheyAreDueAndStartOver() {
        let replay = driver("time,a [Cel],b\n100,1.5,2\n101,2.5,\n103.5,3.5,4\n")
        #expect(texts(replay, at: 5_000) == ["a Cel 1.5", "b 1 2"])
        #expect(texts(replay, at: 5_999) == [])
        #expect(texts(replay, at: 6_000) == ["a Cel 2.5"])
        #expect(texts(replay, at: 8_499) == [])
        #expect(texts(replay, at: 9_000) == ["a Cel 3.5", "b 1 4"])
        #expect(texts(replay, at: 9_001) == ["a Cel 1.5", "b 1 2"])
        #expect(texts(replay, at: 10_001) == ["a Cel 2.5"])
        #expect(replay.diagnostic == nil)
    }

    @Test func theNewestRowThatIsDueIsTaken() {
        let replay = driver("time,a\n0,0\n1,1\n2,2\n3,3\n")
        #expect(texts(replay, at: 0) == ["a 1 0"])
        #expect(texts(replay, at: 2_500) == ["a 1 2"])
    }

    @Test func speedShortensTheTime() {
        let replay = driver("time,a\n0,0\n60,1\n", speed: 60)
        #expect(texts(replay, at: 0) == ["a 1 0"])
        #expect(texts(replay, at: 999) == [])
        #expect(texts(replay, at: 1_000) == ["a 1 1"])
    }

    @Test func datesAreTimesToo() {
        let replay = driver(
            """
            time,a
            2026-02-28T23:59:59Z,0
            2026-03-01 01:00:00.250+01:00,1
            """)
        #expect(texts(replay, at: 0) == ["a 1 0"])
        #expect(texts(replay, at: 1_249) == [])
        #expect(texts(replay, at: 1_250) == ["a 1 1"])
    }

    @Test(
        arguments: [
            ("0", 0), ("12.5", 12_500), ("-1", -1_000), ("1.0005", 1_001),
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:00:00Z", 951_825_600_000),
            ("2026-05-01T12:00:00+02:00", 1_777_629_600_000),
            ("1969-12-31T23:59:59.5Z", -500), ("2026-05-01 12:00:00", 1_777_636_800_000),
        ] as [(String, Int64)])
    func timeIsRead(_ text: String, _ milliseconds: Int64) {
        #expect(Recording.milliseconds(text) == milliseconds)
    }

    @Test(arguments: [
        "", "noon", "2026-13-01T00:00:00Z", "2026-05-01", "2026-05-01T24:00:00Z",
        "2026-05-01T12:00:00X", "2026-05-01T12:00:00.Z", "2026-05-01T12:00:00+2", "1e30",
        "2026-05-01T12:00:00ZZ", "２026-05-01T12:00:00Z",
    ])
    func timeIsRefused(_ text: String) { #expect(Recording.milliseconds(text) == nil) }

    @Test func whatSpreadsheetsSaveIsRead() {
        let replay = driver("\u{feff}Time,\"a, left [Cel]\",\"b\"\"c\"\r\n0, 1.5 ,\"2\"\r\n\r\n")
        #expect(texts(replay, at: 0) == ["a, left Cel 1.5", "b\"c 1 2"])
        #expect(replay.diagnostic == nil)
    }

    @Test func badLinesAreCountedAndNamed() {
        let replay = driver(
            """
            time,a
            0,1
            noon,2
            1,2,3
            "2,3
            3,4
            2,5
            4,\(String(repeating: "9", count: 9_000))
            5,6
            """)
        #expect(texts(replay, at: 0) == ["a 1 1"])
        #expect(texts(replay, at: 10_000) == ["a 1 6"])
        #expect(replay.diagnostic == "5 bad lines, the last is line 8")
    }

    @Test func aCellThatIsNoNumberIsANull() {
        let replay = driver("time,a,b\n0,warm,1\n")
        #expect(texts(replay, at: 0) == ["a 1 null:malformed", "b 1 1"])
    }

    @Test(arguments: ["", "\n", "a,b\n1,2\n", "time\n1\n", "1,2\n3,4\n", "\"time,a\n"])
    func aFileWithoutAHeaderIsRefused(_ text: String) {
        #expect(texts(driver(text), at: 0) == ["replay 1 null:malformed"])
    }

    @Test func aMissingFileIsANullUntilItComes() {
        let replay = ReplayDriver(file: folder.path + "/day.csv", speed: 1)
        #expect(texts(replay, at: 0) == ["replay 1 null:absent"])
        folder.write("day.csv", "time,a\n0,1\n")
        #expect(texts(replay, at: 1) == ["a 1 1"])
    }

    @Test func aFolderInItsPlaceIsANull() {
        let replay = ReplayDriver(file: folder.path, speed: 1)
        #expect(texts(replay, at: 0) == ["replay 1 null:malformed"])
    }

    @Test func aHeaderAloneGivesNothing() {
        let replay = driver("time,a\n")
        for time in Int64(0)..<5 { #expect(texts(replay, at: time) == []) }
    }

    @Test func whatOneSampleReadsIsBounded() {
        let replay = driver("time,a\n" + String(repeating: "bad\n", count: 250_000) + "1,2\n")
        #expect(texts(replay, at: 0) == [])
        #expect(replay.diagnostic == "100000 bad lines, the last is line 100001")
        #expect(texts(replay, at: 1) == [])
        #expect(texts(replay, at: 2) == ["a 1 2"])
    }

    @Test func linesAreReadAcrossTheBuffersEdge() throws {
        var text = ""
        let lengths = [0, 1, 4_095, 4_096, 4_097, 1, 12_288, 0, 3, 8_192, 5]
        for (number, length) in lengths.enumerated() {
            text += String(repeating: Character(String(number % 10)), count: length) + "\n"
        }
        text += "end"
        let reader = try #require(LineReader(folder.write("lines", text)))
        for (number, length) in lengths.enumerated() {
            let line = reader.next()
            #expect(reader.lineNumber == number + 1)
            if length > 4_096 {
                #expect(line == .tooLong)
            } else {
                let expected = String(repeating: Character(String(number % 10)), count: length)
                #expect(line == .text(expected))
            }
        }
        #expect(reader.next() == .text("end"))
        #expect(reader.next() == nil)
        #expect(reader.next() == nil)
    }

    @Test(arguments: ["/dev/zero", "/dev/null"]) func aDeviceIsRefused(_ path: String) {
        let replay = ReplayDriver(file: path, speed: 1)
        #expect(replay.sample() == [Measurement("replay", "1", .null(.malformed))])
        #expect(replay.fault == "a folder, a device or a pipe, not a file")
    }
}
