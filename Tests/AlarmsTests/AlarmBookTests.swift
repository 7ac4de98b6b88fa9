import NearbyCore
import Testing

@testable import Alarms

@Suite struct AlarmBookTests {
    private let changes: [AlarmChange]

    init() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(0))])
        changes = world.read(1, at: 1) + world.read(0, at: 2)
    }

    @Test func anAlarmStandsInItFromItsBeginningToItsEnd() {
        var book = AlarmBook()
        let nothing = book.toSave()
        #expect(nothing == nil)
        let first = book.note(changes[0], targets: ["a"], unixOffset: .seconds(10))
        let saved = book.toSave()
        #expect(AlarmRecord(saved ?? []).alarms.map(\.notice.since) == [11_000_000_000])
        // Its end concerns whoever was told of its beginning.
        let second = book.note(changes[1], targets: ["b"], unixOffset: .seconds(10))
        #expect(book.record.alarms.isEmpty && first == ["a"] && second == ["a"])
    }

    @Test func anAlarmOfAnEarlierVersionConcernsThoseOfItsRule() {
        let line = "alarm\t1000000000\t\(AlarmWorld.peer)\twarm\tfreezer 1\tt\tcelsius\n"
        var book = AlarmBook(AlarmRecord(Array(line.utf8)))
        #expect(book.record.alarms.map(\.targets) == [nil])
        #expect(book.note(changes[1], targets: ["b"], unixOffset: .zero) == ["b"])
    }

    @Test func whatWaitsOutlastsTheProgramWithAllThatIsTold() {
        var book = AlarmBook()
        let waiting = changes.map {
            AlarmRecord.Waiting($0, target: "tab\tand \\line\n", unixOffset: .seconds(9))
        }
        book.waiting = waiting
        let record = AlarmRecord(book.toSave() ?? [])
        #expect(record.waiting == waiting)
        let told = record.waiting.map { AlarmChange($0, rule: 0, unixOffset: .seconds(9)) }
        #expect(told == changes)
    }

    @Test func whatEndedWithinADayIsShownAfterARestart() {
        var book = AlarmBook()
        for hours in [0, 1, 24, 25] {
            var change = changes[1]
            change.name = "warm \(hours)"
            change.time = AlarmWorld.time(Double(hours) * 3_600)
            _ = book.note(change, targets: [], unixOffset: .seconds(1_000))
        }
        let record = AlarmRecord(book.toSave() ?? [])
        #expect(record == book.record)
        // Its rule may be gone.
        var machine = AlarmMachine(rules: [
            AlarmWorld.rule(AlarmWorld.above(0), name: "warm 24")
        ])
        let told = machine.handle(
            .restored(record, unixOffset: .seconds(900)), now: AlarmWorld.time(25 * 3_600 + 200))
        #expect(told.isEmpty)
        let shown = machine.alarms(
            unixOffset: .seconds(900), now: AlarmWorld.time(25 * 3_600 + 200))
        #expect(shown.map(\.name) == ["warm 25", "warm 24"])
        let end: Int64 = 91_000_000_000_000
        #expect(shown.first?.until == end)
        #expect(shown.allSatisfy { !$0.isActive })
    }

    @Test(arguments: [
        "ended\tx", "ended\t1\t2\tx\ta\tb\tc\td\te",
        "waiting", "waiting\ta", "alarm\t\t\t\t\t\t\t", "node\tx", "\t\t",
        "alarm\t9\tx\ta\tb\tc\td\te",
    ])
    func linesThatSayNothingAreLeftOut(_ line: String) {
        #expect(AlarmRecord(Array((line + "\n").utf8)) == AlarmRecord())
    }

    @Test func oneWriteIsUnderWayAtATime() {
        var book = AlarmBook()
        _ = book.note(changes[0], targets: [], unixOffset: .zero)
        let first = book.toSave()
        _ = book.note(changes[1], targets: [], unixOffset: .zero)
        let meanwhile = book.toSave()
        book.saved(true)
        let second = book.toSave()
        #expect(first != nil && meanwhile == nil)
        #expect(AlarmRecord(second ?? []).alarms.isEmpty)
    }

    /// The disk may have room again later.
    @Test func aWriteThatFailedIsTriedAgain() {
        var book = AlarmBook()
        _ = book.note(changes[0], targets: [], unixOffset: .zero)
        let first = book.toSave()
        book.saved(false)
        let second = book.toSave()
        book.saved(true)
        let third = book.toSave()
        #expect(first != nil && first == second && third == nil)
    }

    @Test func nodesAreWrittenWhenTheyChange() {
        var book = AlarmBook()
        book.nodes = [AlarmRecord.NamedNode(peer: AlarmWorld.peer, name: "a")]
        let first = book.toSave()
        book.saved(true)
        book.nodes = [AlarmRecord.NamedNode(peer: AlarmWorld.peer, name: "a")]
        let second = book.toSave()
        #expect(first != nil && second == nil)
    }
}
