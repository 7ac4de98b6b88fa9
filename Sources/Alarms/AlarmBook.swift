import NearbyCore

/// What holds, who was told so, and what has still to be told; and whether it is on disk. An alarm
/// stands here from its beginning to its end, and what waits until it was told: what a crash
/// interrupts is told again.
public struct AlarmBook: Sendable {
    private struct Key: Hashable, Comparable {
        var name: String
        var peer: PeerID
        var channel: String

        init(_ change: AlarmChange) {
            (name, peer, channel) = (change.name, change.peer, change.channel)
        }

        init(_ notice: AlarmRecord.Notice) {
            (name, peer, channel) = (notice.name, notice.peer, notice.channel)
        }

        static func < (left: Key, right: Key) -> Bool {
            (left.name, left.peer, left.channel) < (right.name, right.peer, right.channel)
        }
    }

    private var alarms: [Key: AlarmRecord.Alarm] = [:]
    /// What has still to be told.
    public var waiting: [AlarmRecord.Waiting] = [] {
        didSet { if waiting != oldValue { isDirty = true } }
    }
    /// Those whose silence is watched.
    public var nodes: [AlarmRecord.NamedNode] = [] {
        didSet { if nodes != oldValue { isDirty = true } }
    }
    public private(set) var isSaving = false
    private var isDirty = false

    public init(_ record: AlarmRecord = AlarmRecord()) {
        nodes = record.nodes
        waiting = record.waiting
        for alarm in record.alarms.prefix(Limits.alarmStatesMax) {
            alarms[Key(alarm.notice)] = alarm
        }
    }

    public var record: AlarmRecord {
        var record = AlarmRecord()
        record.nodes = nodes
        record.alarms = alarms.sorted { $0.key < $1.key }.map(\.value)
        record.waiting = waiting
        return record
    }

    /// Notes a change, and says who is to be told: of a beginning those of the alarm's rule, of its
    /// end whoever was told of its beginning.
    public mutating func note(
        _ change: AlarmChange, targets: [String], unixOffset: Duration
    ) -> [String] {
        let key = Key(change)
        isDirty = true
        guard change.isActive else {
            return alarms.removeValue(forKey: key)?.targets ?? targets
        }
        alarms[key] = AlarmRecord.Alarm(change, targets: targets, unixOffset: unixOffset)
        return targets
    }

    /// The whole file, if it is to be written now; then a write is under way.
    public mutating func toSave() -> [UInt8]? {
        guard isDirty, !isSaving else { return nil }
        isDirty = false
        isSaving = true
        return record.bytes
    }

    /// The write has ended. One that failed is to be tried again.
    public mutating func saved(_ isWritten: Bool) {
        isSaving = false
        isDirty = isDirty || !isWritten
    }
}
