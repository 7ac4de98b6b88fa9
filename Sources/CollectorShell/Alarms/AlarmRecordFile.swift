import Alarms
import DurableFiles

/// The file with what was told of alarms, in the state directory.
struct AlarmRecordFile: Sendable {
    let path: String

    /// Nothing where there is none. What is wrong with it is told.
    func load(_ tell: (String) -> Void) -> AlarmRecord {
        do throws(FileError) {
            let bytes = try AtomicFile.read(
                path, limit: AlarmRecord.byteCountMax, through: SystemFiles())
            return AlarmRecord(bytes ?? [])
        } catch {
            tell("notifications of alarms may be sent again: \(error)")
            return AlarmRecord()
        }
    }

    /// What is wrong, if it could not be written.
    func save(_ bytes: [UInt8]) -> String? {
        do throws(FileError) {
            try AtomicFile.write(bytes, to: path, permissions: 0o600, through: SystemFiles())
            return nil
        } catch {
            return "notifications of alarms may be sent again after a restart: \(error)"
        }
    }
}
