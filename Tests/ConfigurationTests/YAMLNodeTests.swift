import Glibc
import Testing

@testable import Configuration

struct YAMLNodeTests {
    private func mistake(_ text: [UInt8]) -> String? {
        do throws(Mistake) {
            _ = try YAMLNode.parse(text, file: "f")
            return nil
        } catch {
            return error.description
        }
    }

    private func mistake(_ text: String) -> String? { mistake(Array(text.utf8)) }

    @Test func syntaxErrorsHaveTheirPlace() {
        #expect(mistake("a: [1, 2\nb: 3\n")?.hasPrefix("f:2:2: ") == true)
        #expect(mistake("a: \"cut off")?.hasPrefix("f:1:12: ") == true)
        #expect(mistake("a: 1\n\tb: 2\n")?.hasPrefix("f:2:1: ") == true)
        #expect(mistake("a: {b: 1")?.contains("is the file cut off") == true)
    }

    @Test func textThatNeedsQuotationMarksIsToldSo() {
        let advice = "put the text in quotation marks"
        #expect(mistake("a: @b")?.hasSuffix("cannot start any token; " + advice) == true)
        #expect(mistake("a: b: c")?.hasSuffix(advice + ", or check the indentation") == true)
    }

    @Test(arguments: ["a:\n\tb: 2\n", "\ta: 1\n", "a:\n  b: 1\n\tc: 2\n"])
    func aTabIsCalledATab(text: String) {
        #expect(mistake(text)?.contains("a tab; YAML is indented with spaces only") == true)
    }

    @Test func bytesThatAreNoTextHaveTheirPlace() {
        let text = Array("a: 1\nbc: ".utf8) + [0xff, 0xfe]
        #expect(
            mistake(text)
                == "f:2:5: invalid leading UTF-8 octet; save the file as plain UTF-8 text")
        #expect(mistake([0x61, 0x00])?.hasPrefix("f:1:2: ") == true)
    }

    @Test func whatWindowsEditorsSaveIsRead() throws {
        let text = "\u{feff}name: bench\r\ntrust: any\r\n"
        let settings = Settings.decode(Array(text.utf8), file: "f").settings
        #expect(settings?.name == "bench")
    }

    @Test func aSecondDocumentIsNotPassedOver() {
        #expect(mistake("a: 1\n---\nb: 2\n")?.hasPrefix("f:2:1: a second document") == true)
        #expect(mistake("---\na: 1\n...\n") == nil)
        #expect(mistake("") == nil)
        #expect(mistake("# nothing\n") == nil)
    }

    @Test func aliasesAreRefusedHoweverFewTheyAre() {
        #expect(mistake("a: &x [1]\nb: *x\n")?.contains("an alias") == true)
        let laughs = """
            a: &a [x, x, x, x, x, x, x, x, x]
            b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]
            c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]
            d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]
            e: [*d, *d, *d, *d, *d, *d, *d, *d, *d]
            """
        #expect(mistake(laughs)?.contains("an alias") == true)
        #expect(mistake("&a [*a]")?.contains("an alias") == true)
        #expect(mistake("a: *b")?.contains("an alias") == true)
    }

    @Test func depthNodesAndBytesAreBounded() {
        let deep = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
        #expect(mistake(deep)?.contains("nested more than 16 deep") == true)
        #expect(
            mistake("a: [" + String(repeating: "1,", count: 20_000) + "]")?
                .contains("at most 20000 values") == true)
        #expect(mistake([UInt8](repeating: 0x20, count: 262_145))?.contains("262144") == true)
        #expect(mistake(String(repeating: "[", count: 200_000)) != nil)
        #expect(mistake(String(repeating: "- ", count: 100_000)) != nil)
    }

    @Test func noPrefixOfAConfigurationTraps() {
        let text = Array(Self.configuration.utf8)
        for count in 0...text.count {
            _ = Settings.decode(Array(text.prefix(count)), file: "f")
        }
    }

    @Test func noChangedBitOfAConfigurationTraps() {
        let text = Array(Self.configuration.utf8)
        for index in text.indices {
            for bit in 0..<8 {
                var changed = text
                changed[index] ^= 1 << UInt8(bit)
                _ = Settings.decode(changed, file: "f")
            }
        }
    }

    private static let configuration = """
        name: north bench
        network: greenhouse
        trust: any
        role: agent
        labels: {site: north}
        links:
          udp: {port: 0, interfaces: [wlan0], beacon: true, peers: ["10.0.0.5:4577"]}
        sensors:
          - {driver: command, run: ["/bin/co2", "a"], every: 60s, name: co2, unit: ppm}
          - {driver: replay, file: day.csv, speed: 10}
          - {driver: system, disks: [/]}
        report: {size: 400, wait: 250ms}
        collector: {window: 10s}
        """
}
