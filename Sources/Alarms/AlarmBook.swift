import NearbyCore

/// The active alarms, who was notified of each, those that ended within a day, and the
/// notifications still to be sent; and whether all this is on disk. An alarm is listed here from
/// when it becomes active until it clears, and a notification until it has been sent: one that a
/// crash interrupts is sent again.
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
    /// The oldest first.
    private var ended: [AlarmRecord.Ended] = []
    /// The notifications still to be sent.
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
        ended = record.ended.suffix(Limits.alarmEndedMax)
        for alarm in record.alarms.prefix(Limits.alarmStatesMax) {
            alarms[Key(alarm.notice)] = alarm
        }
    }

    public var record: AlarmRecord {
        var record = AlarmRecord()
        record.nodes = nodes
        record.alarms = alarms.sorted { $0.key < $1.key }.map(\.value)
        record.ended = ended
        record.waiting = waiting
        return record
    }

    /// Records a change and returns the targets to notify: the targets of the alarm's rule when it
    /// becomes active, those that were notified of that when it clears.
    public mutating func note(
        _ change: AlarmChange, targets: [String], unixOffset: Duration
    ) -> [String] {
        let key = Key(change)
        isDirty = true
        guard change.isActive else {
            let end = AlarmRecord.Ended(change, unixOffset: unixOffset)
            let day = AlarmMachine.endedAge.nanoseconds
            ended.removeAll { end.until.subtractingSaturating($0.until) >= day }
            ended = (ended + [end]).suffix(Limits.alarmEndedMax)
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

    /// Call this when the write has ended; a failed write is tried again.
    public mutating func saved(_ isWritten: Bool) {
        isSaving = false
        isDirty = isDirty || !isWritten
    }
}
