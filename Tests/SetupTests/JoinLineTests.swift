import Configuration
import NearbyCore
import Spool
import Testing
import VectorFile

@testable import Setup

struct JoinLineTests {
    static let line = JoinLine(
        network: "greenhouse", secrets: [Array(1...16)],
        collectors: [PeerID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)],
        addresses: [
            .ipv4(address: 0x0a4d_0102, port: 4_577),
            .ipv6(high: 0xfd00_0000_0000_0000, low: 5, port: 4_577),
        ])

    /// As a line, with a checksum.
    private func text(_ content: [UInt8]) -> String {
        var writer = ByteWriter()
        writer.write(contentsOf: content)
        writer.write(Checksum.crc32c(content))
        return "rivulet1:" + Base32.text(writer.bytes)
    }

    @Test func theBytesAreThoseOfTheVector() throws {
        let golden = vector("join-line")
        #expect(Self.line.bytes == golden)
        #expect(try JoinLine(parsing: golden) == Self.line)
        #expect(try JoinLine(text: "rivulet1:" + Base32.text(golden)) == Self.line)
    }

    @Test func itIsReadAsPeopleCopyIt() throws {
        let text = Self.line.text
        #expect(text.hasPrefix("rivulet1:"))
        #expect(try JoinLine(text: text) == Self.line)
        #expect(try JoinLine(text: "  " + text.uppercased() + "\r\n") == Self.line)
        let broken = text.prefix(40) + " \n" + text.dropFirst(40)
        #expect(try JoinLine(text: String(broken)) == Self.line)
        for around in ["\"", "'", "`", "\u{feff}", "“", "\u{a0}"] {
            #expect(try JoinLine(text: around + text + around + "\n") == Self.line)
        }
    }

    @Test func everyPartThatFitsIsCarried() throws {
        let full = JoinLine(
            network: "a", secrets: (0..<8).map { Array(repeating: $0, count: 16) },
            collectors: (0..<32).map { PeerID(high: $0, low: 1) },
            addresses: (0..<8).map { .ipv4(address: $0, port: 1) })
        #expect(try JoinLine(text: full.text) == full)
        let more = JoinLine(
            network: "a", secrets: full.secrets + full.secrets,
            collectors: full.collectors + full.collectors,
            addresses: [.simulated(1)] + full.addresses + full.addresses)
        #expect(more == full)
    }

    @Test func everyWrongCharacterAndEveryMissingOneIsNoticed() {
        let text = Array(Self.line.text)
        for index in text.indices where index >= 9 {
            for other in "abcdefghijklmnopqrstuvwxyz2345670189!ä" where other != text[index] {
                var changed = text
                changed[index] = other
                #expect(throws: JoinLine.Fault.damaged) { try JoinLine(text: String(changed)) }
            }
            var shorter = text
            shorter.remove(at: index)
            #expect(throws: JoinLine.Fault.damaged) { try JoinLine(text: String(shorter)) }
            #expect(throws: JoinLine.Fault.damaged) { try JoinLine(text: String(text[..<index])) }
        }
    }

    @Test func whatIsNoLineIsSaidSo() {
        for text in ["", "hello", "rvs1-abcde", "rivulet-abcde", "rivulet:", "rivulet1"] {
            #expect(throws: JoinLine.Fault.notALine) { try JoinLine(text: text) }
        }
        let long = "rivulet1:" + String(repeating: "a", count: 100_000)
        #expect(throws: JoinLine.Fault.notALine) { try JoinLine(text: long) }
        #expect(throws: JoinLine.Fault.newer) { try JoinLine(text: "rivulet2:abc") }
    }

    @Test func newPartsArePassedOverWhereTheyMayBe() throws {
        let parts = Array(Self.line.bytes.dropLast(4))
        #expect(try JoinLine(text: text(parts + [128, 2, 7, 7])) == Self.line)
        #expect(throws: JoinLine.Fault.newer) { try JoinLine(text: text(parts + [7, 2, 7, 7])) }
    }

    @Test func partsThatAreWrongAreRefused() {
        let network: [UInt8] = [1, 1, UInt8(ascii: "a")]
        let secret: [UInt8] = [2, 16] + Array(1...16)
        let wrong: [[UInt8]] = [
            [], network, secret, network + network + secret, network + [2, 15] + Array(1...15),
            [1, 1, UInt8(ascii: "A")] + secret, [1, 0] + secret, network + secret + [3, 1, 0],
            network + secret + [4, 5, 1, 2, 3, 4, 5], network + secret + [4, 7] + Array(1...7),
            network + secret + [3, 16, 0], network + secret + [3],
            network + Array((0..<9).map { _ in secret }.joined()),
        ]
        for content in wrong {
            #expect(throws: JoinLine.Fault.damaged, "\(content)") {
                try JoinLine(text: text(content))
            }
        }
    }

    @Test func noMessageRepeatsTheLine() {
        for fault in [JoinLine.Fault.damaged, .newer, .notALine] {
            #expect(!fault.description.contains(Self.line.text.prefix(20)))
        }
        #expect(PlainText.shown("see " + Self.line.text.uppercased()) == "(a secret, not shown)")
    }

    /// Neither a command to a terminal, nor a second line, nor text that is turned around.
    @Test func shownTextIsPlain() {
        #expect(PlainText.shown("a\u{1b}b\u{9b}c\u{202e}d\u{2028}e\u{2066}f") == "a?b?c?d?e?f")
        #expect(!PlainText.isPrintable("x\u{202e}y"))
        #expect(PlainText.isPrintable("Küche \u{5e9}\u{5dc}\u{5d5}\u{5dd} 🌱"))
    }
}
