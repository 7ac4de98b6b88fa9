import CNATS
import CollectorConfiguration
import Outputs

/// The stream that readings go into: made if it is not there, otherwise looked at.
struct NATSStreamCheck {
    private let connection: NATSConnection
    private let settings: NATSSettings

    init(_ connection: NATSConnection, _ settings: NATSSettings) {
        self.connection = connection
        self.settings = settings
    }

    /// - Parameter subject: `rivulet.<network>.>`.
    /// - Returns: the sequence numbers of the first and the last message in it.
    func run(subject: String) throws(OutputFault) -> ClosedRange<UInt64>? {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(0)
        let status = js_GetStreamInfo(&info, connection.stream, settings.stream, nil, &code)
        if status == NATS_NOT_FOUND {
            try make()
            return nil
        }
        guard status == NATS_OK, let info else { throw fault(status, code) }
        defer { jsStreamInfo_Destroy(info) }
        if let defect = Self.known(info.pointee, settings.stream)?.defect(for: subject) {
            throw OutputFault(
                .unsuitable, "\(connection.place): stream \(settings.stream): \(defect)")
        }
        let state = info.pointee.State
        guard state.Msgs > 0, state.FirstSeq <= state.LastSeq else { return nil }
        return state.FirstSeq...state.LastSeq
    }

    private static func known(_ info: jsStreamInfo, _ name: String) -> NATSStream? {
        guard let configuration = info.Config?.pointee else { return nil }
        let subjects = (0..<Int(configuration.SubjectsLen)).compactMap {
            configuration.Subjects[$0].map { String(cString: $0) }
        }
        return NATSStream(
            name: name, subjects: subjects, duplicates: configuration.Duplicates,
            isSilent: configuration.NoAck, isSealed: configuration.Sealed,
            isMirror: configuration.Mirror != nil)
    }

    /// With three copies; with one where there is no cluster, unless a number was asked for.
    private func make() throws(OutputFault) {
        let wanted = settings.limits.replicas
        var (status, code) = add(replicas: wanted ?? 3)
        if code == NATSErrorCode.replicasNotSupported, wanted == nil {
            (status, code) = add(replicas: 1)
        }
        // Another collector was faster.
        guard status != NATS_OK, code != NATSErrorCode.nameInUse else { return }
        throw fault(status, jsErrCode(UInt32(bitPattern: code)))
    }

    private func add(replicas: Int) -> (natsStatus, Int32) {
        var configuration = jsStreamConfig()
        jsStreamConfig_Init(&configuration)
        let subject = NATSSubject.all(prefix: settings.prefix)
        let (seconds, _) = settings.limits.age.components
        configuration.Replicas = Int64(replicas)
        configuration.MaxAge = seconds * 1_000_000_000
        configuration.Duplicates = settings.limits.duplicates.components.seconds * 1_000_000_000
        if settings.limits.bytes > 0 { configuration.MaxBytes = Int64(settings.limits.bytes) }
        if configuration.MaxAge > 0 {
            configuration.Duplicates = min(configuration.Duplicates, configuration.MaxAge)
        }
        var code = jsErrCode(0)
        let status = settings.stream.withCString { name in
            subject.withCString { subject in
                var subjects: [UnsafePointer<CChar>?] = [subject]
                return subjects.withUnsafeMutableBufferPointer { subjects in
                    configuration.Name = name
                    configuration.Subjects = subjects.baseAddress
                    configuration.SubjectsLen = 1
                    return js_AddStream(nil, connection.stream, &configuration, nil, &code)
                }
            }
        }
        return (status, Int32(bitPattern: code.rawValue))
    }

    private func fault(_ status: natsStatus, _ code: jsErrCode) -> OutputFault {
        let place = "\(connection.place): stream \(settings.stream)"
        let (kind, advice) = NATSErrorCode.meaning(of: Int32(bitPattern: code.rawValue))
        let words = NATSConnection.lastWords()
        let said = words.isEmpty ? NATSConnection.text(status) : words
        if status == NATS_NO_RESPONDERS {
            return OutputFault(
                .unavailable,
                "\(place): no server answers for JetStream; it is off (`jetstream {}`), or the "
                    + "cluster has no leader now")
        }
        return OutputFault(kind, "\(place): \(said)" + (advice.isEmpty ? "" : "; \(advice)"))
    }
}
