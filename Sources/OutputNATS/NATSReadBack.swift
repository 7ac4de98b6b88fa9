import CNATS
import CollectorConfiguration
import Outputs

/// Which readings the end of a stream has: their ids, without the readings.
struct NATSReadBack {
    private let connection: NATSConnection
    private let settings: NATSSettings
    private let subject: String

    /// A batch of ours, between those of other collectors.
    static let messagesMax: UInt64 = 20_000

    init(_ connection: NATSConnection, _ settings: NATSSettings, _ subject: String) {
        self.connection = connection
        self.settings = settings
        self.subject = subject
    }

    /// Empty if they cannot be read, perhaps for lack of rights: the duplicate window remains.
    func ids(in stored: ClosedRange<UInt64>) -> Set<String> {
        let first =
            stored.upperBound - min(stored.upperBound - stored.lowerBound, Self.messagesMax - 1)
        guard let subscription = subscribe(from: first) else { return [] }
        defer { natsSubscription_Destroy(subscription) }
        var ids: Set<String> = []
        for _ in 0..<Self.messagesMax {
            var message: OpaquePointer?
            guard natsSubscription_NextMsg(&message, subscription, 1_000) == NATS_OK else { break }
            defer { natsMsg_Destroy(message) }
            var id: UnsafePointer<CChar>?
            if natsMsgHeader_Get(message, "Nats-Msg-Id", &id) == NATS_OK, let id {
                ids.insert(String(cString: id))
            }
            if isLast(message) { break }
        }
        return ids
    }

    private func isLast(_ message: OpaquePointer?) -> Bool {
        var data: UnsafeMutablePointer<jsMsgMetaData>?
        guard natsMsg_GetMetaData(&data, message) == NATS_OK, let data else { return true }
        defer { jsMsgMetaData_Destroy(data) }
        return data.pointee.NumPending == 0
    }

    private func subscribe(from first: UInt64) -> OpaquePointer? {
        var options = jsSubOptions()
        jsSubOptions_Init(&options)
        options.Ordered = true
        options.Config.DeliverPolicy = js_DeliverByStartSequence
        options.Config.OptStartSeq = first
        options.Config.HeadersOnly = true
        var subscription: OpaquePointer?
        let status = settings.stream.withCString { name in
            options.Stream = name
            return js_SubscribeSync(
                &subscription, connection.stream, subject, nil, &options, nil)
        }
        return status == NATS_OK ? subscription : nil
    }
}
