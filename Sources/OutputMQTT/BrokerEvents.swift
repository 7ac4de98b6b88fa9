import CMosquitto
import Outputs

/// What libmosquitto has said of one connection. Lives as long as the connection, which alone uses
/// it, on its own thread.
final class BrokerEvents {
    struct Received {
        var topic: String
        var payload: [UInt8]
        var isRetained: Bool
    }

    /// Events so far: whether anything moves.
    private(set) var count = 0
    /// The broker's answer; 0: we are in.
    private(set) var connectCode: Int32?
    private(set) var disconnectCode: Int32?
    private(set) var subscribed: Int32 = 0
    private(set) var subscribeCode: Int32 = 0
    private(set) var unsubscribed: Int32 = 0
    /// The broker's answers to what was published, until somebody takes them: reason by number.
    private var acknowledged: [Int32: Int32] = [:]
    private var received: [Received] = []
    /// Whether messages on this topic are wanted.
    var isWanted: (String) -> Bool = { _ in true }
    /// Messages that nobody took in time.
    private(set) var droppedCount = 0
    private(set) var lastError: String?
    private(set) var certificateFault: String?

    /// Messages that wait to be looked at.
    static let receivedMax = 100_000
    /// Bytes of a payload that we have a use for.
    static let payloadBytesMax = 16 * 1_024

    func takeAcknowledgements() -> [Int32: Int32] {
        defer { acknowledged = [:] }
        return acknowledged
    }

    func takeReceived() -> [Received] {
        defer { received = [] }
        return received
    }

    // MARK: Callbacks

    func register(_ client: OpaquePointer) {
        mosquitto_connect_v5_callback_set(client) { _, owner, code, _, _ in
            BrokerEvents.of(owner) { $0.connectCode = code }
        }
        mosquitto_disconnect_v5_callback_set(client) { _, owner, code, _ in
            BrokerEvents.of(owner) { $0.disconnectCode = code }
        }
        mosquitto_publish_v5_callback_set(client) { _, owner, number, code, _ in
            BrokerEvents.of(owner) { $0.acknowledged[number] = code }
        }
        mosquitto_subscribe_callback_set(client) { _, owner, number, grants, codes in
            let code = grants > 0 ? codes?[0] ?? 0 : 0
            BrokerEvents.of(owner) {
                $0.subscribed = number
                $0.subscribeCode = code
            }
        }
        mosquitto_unsubscribe_callback_set(client) { _, owner, number in
            BrokerEvents.of(owner) { $0.unsubscribed = number }
        }
        mosquitto_message_callback_set(client) { _, owner, message in
            guard let message else { return }
            BrokerEvents.of(owner) { $0.receive(message.pointee) }
        }
        mosquitto_log_callback_set(client) { client, owner, level, text in
            guard level == MOSQ_LOG_ERR, let text else { return }
            let fault = client.flatMap { rivulet_mosquitto_certificate_fault($0) }
            BrokerEvents.of(owner) {
                $0.lastError = PrintableReason.withoutCodes(String(cString: text))
                if let fault { $0.certificateFault = String(cString: fault) }
            }
        }
    }

    private static func of(_ owner: UnsafeMutableRawPointer?, _ body: (BrokerEvents) -> Void) {
        guard let owner else { return }
        let events = Unmanaged<BrokerEvents>.fromOpaque(owner).takeUnretainedValue()
        events.count &+= 1
        body(events)
    }

    private func receive(_ message: mosquitto_message) {
        let topic = message.topic.map { String(cString: $0) } ?? ""
        guard isWanted(topic) else { return }
        guard received.count < Self.receivedMax, message.payloadlen <= Self.payloadBytesMax else {
            droppedCount += 1
            return
        }
        let payload = UnsafeRawBufferPointer(
            start: message.payload, count: Int(max(0, message.payloadlen)))
        received.append(
            Received(
                topic: topic, payload: Array(payload), isRetained: message.retain))
    }
}
