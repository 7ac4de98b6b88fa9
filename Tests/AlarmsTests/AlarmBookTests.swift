import NearbyCore
import Testing

@testable import Alarms

@Suite struct AlarmBookTests {
    private let changes: [AlarmChange]

    init() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(0))])
        changes = world.read(1, at: 1) + world.read(0, at: 2)
    }

    @Test func anAlarmStandsInItUntilItsEndWasTold() {
        var book = AlarmBook()
        let nothing = book.toSave()
        #expect(nothing == nil)
        book.note(changes[0], unixOffset: .seconds(10))
        let saved = book.toSave()
        #expect(AlarmRecord(saved ?? []).alarms.map(\.since) == [11_000_000_000])
        book.note(changes[1], unixOffset: .seconds(10))
        #expect(book.record.alarms.isEmpty)
    }

    @Test func oneWriteIsUnderWayAtATime() {
        var book = AlarmBook()
        book.note(changes[0], unixOffset: .zero)
        let first = book.toSave()
        book.note(changes[1], unixOffset: .zero)
        let meanwhile = book.toSave()
        book.isSaving = false
        let second = book.toSave()
        #expect(first != nil && meanwhile == nil && second == [])
    }

    @Test func nodesAreWrittenWhenTheyChange() {
        var book = AlarmBook()
        book.nodes = [AlarmRecord.NamedNode(peer: AlarmWorld.peer, name: "a")]
        let first = book.toSave()
        book.isSaving = false
        book.nodes = [AlarmRecord.NamedNode(peer: AlarmWorld.peer, name: "a")]
        let second = book.toSave()
        #expect(first != nil && second == nil)
    }
}
