import Telemetry
import Testing

@testable import Sampling

struct CommandOutputTests {
    private func parse(_ output: String, prefix: String? = nil) -> [String]? {
        CommandOutput.parse(Array(output.utf8), channel: "c", prefix: prefix, unit: "u")?
            .map(\.text)
    }

    @Test(arguments: [
        ("42", ["c u 42"]), ("\n 0.50\r\n", ["c u 0.50"]), ("-1e-3", ["c u -0.001"]),
        (#"{"co2": 417, "t": -2.5}"#, ["co2 u 417", "t u -2.5"]),
        (#"{"a": {"b": [1, {"c": 2}]}, "s": "x", "ok": true}"#, ["a.b.0 u 1", "a.b.1.c u 2"]),
        (#"{"a": null}"#, ["a u null:absent"]),
        (#"{"\u00e9\"\ud83d\ude00\/": 1}"#, ["é\"😀/ u 1"]),
        (#"{"\ud83d": 1}"#, ["\u{fffd} u 1"]),
        ("cpu usage=1.5,idle=98i 1700000000000000000", ["cpu.usage u 1.5", "cpu.idle u 98"]),
        ("cpu,host=a,core=1 usage=1", ["cpu.a.1.usage u 1"]),
        ("# comment\n\nm f=1\nm g=2u\n", ["m.f u 1", "m.g u 2"]),
        ("m text=\"a b, c=d\",on=true,f=1", ["m.f u 1"]),
        (#"a\ b,k=x\,y f\=1=3"#, ["a b.x,y.f=1 u 3"]),
    ])
    func isUnderstood(_ output: String, _ texts: [String]) {
        #expect(parse(output) == texts)
    }

    @Test(arguments: [
        "", " \n", "warm", "1 2", "nan", "inf", "0x10", "{", "{}", "{\"a\"}", "{\"a\":}",
        "{\"a\":1", "{\"a\":1}}", "{\"a\":1,}", "{\"a\":1.2.3}", "{\"a\":-}", "{a:1}", "[1]",
        "{\"a\":tru}", "{\"a\":\"\\x\",\"b\":1}", "{\"a\":\"\\u12\",\"b\":1}", "{\"a\":\"open",
        "{\"s\":\"only text\"}", "{\"a\":1} {\"b\":2}", "m", "m f", "m f=", "m =1", "m f=word",
        "m f=1 noon", "m f=1 1 1", ",k=v f=1", "m,k f=1", "m f=\"open", "m f=1\nrubbish",
        #"m on=true"#, "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}",
    ])
    func isRefused(_ output: String) {
        #expect(parse(output) == nil)
    }

    @Test func aNameIsPutBeforeAllButALoneNumber() {
        #expect(parse("3", prefix: "p") == ["c u 3"])
        #expect(parse(#"{"a": 1}"#, prefix: "p") == ["p.a u 1"])
        #expect(parse("m f=1", prefix: "p") == ["p.m.f u 1"])
    }

    @Test func channelsAndDepthAreBounded() {
        func object(_ count: Int) -> String {
            "{" + (0..<count).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
        }
        #expect(parse(object(128))?.count == 128)
        #expect(parse(object(129)) == nil)
        #expect(parse((0..<129).map { "m f\($0)=1" }.joined(separator: "\n")) == nil)
        #expect(parse("{\"a\":" + String(repeating: "[", count: 60_000)) == nil)
    }

    @Test func noChangedBitAndNoPrefixTraps() {
        let texts = [
            #"{"a": {"b": [1, -2.5e3, null, true]}, "s\u00e9\ud83d\ude00": "x\n"}"#,
            #"cpu\ 1,host=a\,b usage=1.5,text="a b",n=98i 1700000000"#, "-12.5e-3",
        ]
        for text in texts {
            let bytes = Array(text.utf8)
            for count in 0...bytes.count {
                _ = CommandOutput.parse(
                    Array(bytes.prefix(count)), channel: "c", prefix: nil, unit: "u")
            }
            for index in bytes.indices {
                for bit in 0..<8 {
                    var changed = bytes
                    changed[index] ^= 1 << UInt8(bit)
                    _ = CommandOutput.parse(changed, channel: "c", prefix: nil, unit: "u")
                }
            }
        }
    }

    @Test(arguments: [128, 129, 500]) func whatIsTooMuchIsCalledSo(_ count: Int) {
        let members = (0..<count).map { "\"c\($0)\": 1" }.joined(separator: ", ")
        let lines = (0..<count).map { "m f\($0)=1" }.joined(separator: "\n")
        for output in ["{" + members + "}", lines] {
            let bytes = Array(output.utf8)
            let found = CommandOutput.parse(bytes, channel: "c", prefix: nil, unit: "u")
            #expect(found?.count == (count == 128 ? 128 : nil))
            #expect(CommandOutput.isTooMuch(bytes) == (count > 128))
        }
        #expect(!CommandOutput.isTooMuch(Array("{".utf8)) && !CommandOutput.isTooMuch([]))
    }
}
