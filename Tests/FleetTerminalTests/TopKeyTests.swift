import Testing

@testable import FleetTerminal

struct TopKeyTests {
    private var reader = TopKeyReader()

    @Test mutating func keysComeSingleAndInARow() {
        #expect(
            reader.read(Array("q/é".utf8)) == [.character("q"), .character("/"), .character("é")])
        #expect(reader.read([0x1b, 0x5b, 0x41, 0x0d, 0x7f]) == [.up, .enter, .backspace])
        let sequences = Array("\u{1b}[5~\u{1b}OH\u{1b}[1;5C".utf8)
        #expect(reader.read(sequences) == [.pageUp, .home, .right])
        #expect(reader.read([0x03, 0x0c, 0x09]) == [.interrupt, .redraw, .tab])
    }

    @Test mutating func aKeyMayComeInPieces() {
        #expect(reader.read([0x1b]) == [])
        #expect(reader.isWaiting)
        #expect(reader.read([0x5b]) == [])
        #expect(reader.read([0x42]) == [.down])
        #expect(!reader.isWaiting)
        #expect(reader.read([0xc3]) == [])
        #expect(reader.read([0xa9]) == [.character("é")])
    }

    @Test mutating func anEscapeAloneIsAKeyOnceNothingFollows() {
        #expect(reader.read([0x1b]) == [])
        #expect(reader.flush() == [.escape])
        #expect(reader.read([0x1b, 0x71]) == [.escape, .character("q")])
    }

    @Test mutating func whatIsNoKeyIsSkipped() {
        #expect(reader.read([0xff, 0x80, 0x00, 0x71]) == [.character("q")])
        #expect(reader.read(Array("\u{1b}[999999999999999999Zx".utf8)).count <= 1)
        let endless = [0x1b, 0x5b] + [UInt8](repeating: 0x30, count: 100)
        #expect(reader.read(endless) == [])
        #expect(!reader.isWaiting)
    }
}
