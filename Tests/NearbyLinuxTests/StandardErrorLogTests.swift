import Glibc
import Testing

@testable import NearbyLinux

@Suite struct StandardErrorLogTests {
    @Test func journaldGetsTheLevelAndATerminalDoesNot() {
        let journal = StandardErrorLog(threshold: .information, prefix: .level)
        let terminal = StandardErrorLog(threshold: .information, prefix: .none)
        #expect(journal.line(.warning, "carrier lost") == "<4>carrier lost\n")
        #expect(terminal.line(.warning, "carrier lost") == "carrier lost\n")
    }

    @Test func aStreamIsTheJournalOnlyIfItIsTheOneThatWasNamed() throws {
        var status = stat()
        try #require(fstat(STDERR_FILENO, &status) == 0)
        let name = "\(status.st_dev):\(status.st_ino)"
        #expect(StandardErrorLog.isJournal(STDERR_FILENO, named: name))
        #expect(!StandardErrorLog.isJournal(STDERR_FILENO, named: "\(status.st_dev):1"))
        #expect(!StandardErrorLog.isJournal(STDERR_FILENO, named: nil))
        #expect(!StandardErrorLog.isJournal(-1, named: name))
    }

    @Test func aNameFromOutsideCannotForgeALine() {
        let log = StandardErrorLog(threshold: .information, prefix: .level)
        #expect(log.line(.diagnostic, "peer a\n<3>b\u{1b}[2J\u{9b}") == "<5>peer a?<3>b?[2J?\n")
    }

    @Test func linesOfALongRunHaveTheirTime() {
        let line = StandardErrorLog(threshold: .information, prefix: .time).line(.diagnostic, "on")
        #expect(line.utf8.count == "2026-11-22 06:45:00 on\n".utf8.count)
        #expect(line.hasPrefix("20") && line.hasSuffix(" on\n"))
        #expect(StandardErrorLog.time(1_795_239_900).hasSuffix(":00"))
    }

    @Test func levelsAreNamed() {
        for level in StandardErrorLog.Level.allCases {
            #expect(StandardErrorLog.Level(name: level.name) == level)
        }
        #expect(StandardErrorLog.Level(name: "loud") == nil)
    }

    @Test func aScreenTakesTheLines() throws {
        let lines = try Mailbox<String>()
        let log = StandardErrorLog(threshold: .information, prefix: .none, screen: lines)
        log.write(.warning, "the store is full")
        #expect(lines.take() == ["the store is full"])
    }

    @Test func lessGraveLinesAreNotEvenMade() {
        let log = StandardErrorLog(threshold: .warning, prefix: .none)
        var isMade = false
        func text() -> String {
            isMade = true
            return ""
        }
        log.write(.debug, text())
        #expect(!isMade)
    }
}
