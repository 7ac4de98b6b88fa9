import NearbyCore

/// What was told of alarms, and whether it is on disk. An alarm stands here from when all were told
/// of its beginning until all were told of its end: what a crash interrupts is told again.
public struct AlarmBook: Sendable {
    private struct Key: Hashable, Comparable {
        var name: String
        var peer: PeerID
        var channel: String

        static func < (left: Key, right: Key) -> Bool {
            (left.name, left.peer, left.channel) < (right.name, right.peer, right.channel)
        }
    }

    private var told: [Key: AlarmRecord.Alarm] = [:]
    /// Those whose silence is watched.
    public var nodes: [AlarmRecord.NamedNode] = [] {
        didSet { if nodes != oldValue { isDirty = true } }
    }
    /// Whether a write is under way.
    public var isSaving = false
    private var isDirty = false

    public init(_ record: AlarmRecord = AlarmRecord()) {
        nodes = record.nodes
        for alarm in record.alarms.prefix(Limits.alarmStatesMax) {
            told[Key(name: alarm.name, peer: alarm.peer, channel: alarm.channel)] = alarm
        }
    }

    public var record: AlarmRecord {
        var record = AlarmRecord()
        record.nodes = nodes
        record.alarms = told.sorted { $0.key < $1.key }.map(\.value)
        return record
    }

    /// All were told of this change.
    public mutating func note(_ change: AlarmChange, unixOffset: Duration) {
        let key = Key(name: change.name, peer: change.peer, channel: change.channel)
        told[key] = change.isActive ? AlarmRecord.Alarm(change, unixOffset: unixOffset) : nil
        isDirty = true
    }

    /// The whole file, if it is to be written now; then a write is under way.
    public mutating func toSave() -> [UInt8]? {
        guard isDirty, !isSaving else { return nil }
        isDirty = false
        isSaving = true
        return record.bytes
    }
}
