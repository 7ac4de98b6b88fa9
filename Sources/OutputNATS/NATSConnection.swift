import CNATS
import CollectorConfiguration
import NearbyCore
import Outputs

/// A connection through libnats, with JetStream.
///
/// The library does not reconnect: what was not confirmed when a server died is sent again whole,
/// and that needs a connection whose state is known.
final class NATSConnection {
    let place: String
    private var connection: OpaquePointer?
    private(set) var stream: OpaquePointer?
    private let refusals = NATSRefusals()
    private let timeLimit: Int64

    init(_ settings: NATSSettings) throws(OutputFault) {
        place = "NATS on " + settings.servers.joined(separator: ", ")
        let (seconds, attoseconds) = settings.timeLimit.components
        timeLimit = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        var options: OpaquePointer?
        try check(natsOptions_Create(&options), "options")
        defer { natsOptions_Destroy(options) }
        try NATSOptions(settings, timeLimit, place).apply(to: options)
        let status = natsConnection_Connect(&connection, options)
        guard status == NATS_OK else { throw connectingFault(status) }
        // Where it throws, `deinit` closes: everything is stored.
        try openStreams()
    }

    deinit {
        jsCtx_Destroy(stream)
        natsConnection_Destroy(connection)
    }

    private func openStreams() throws(OutputFault) {
        var options = jsOptions()
        jsOptions_Init(&options)
        options.Wait = timeLimit
        options.PublishAsync.MaxPending = Int64(Limits.outputBatchReadings) * 2
        options.PublishAsync.ErrHandler = { _, error, closure in
            guard let error, let closure else { return }
            Unmanaged<NATSRefusals>.fromOpaque(closure).takeUnretainedValue().add(error.pointee)
        }
        options.PublishAsync.ErrHandlerClosure = Unmanaged.passUnretained(refusals).toOpaque()
        try check(natsConnection_JetStream(&stream, connection, &options), "JetStream")
    }

    // MARK: Publishing

    /// Returns when the servers have confirmed all of them.
    func publish(_ messages: [NATSMessage]) throws(OutputFault) -> OutputReceipt {
        refusals.clear()
        for message in messages { try send(message) }
        var options = jsPubOptions()
        jsPubOptions_Init(&options)
        options.MaxWait = timeLimit
        let status = js_PublishAsyncComplete(stream, &options)
        let receipt = try refusals.receipt(place)
        guard status == NATS_OK else {
            throw OutputFault(
                .unavailable,
                "\(place): not confirmed within \(timeLimit / 1_000) s: "
                    + "\(Self.text(status)); it is sent again")
        }
        return receipt
    }

    private func send(_ message: NATSMessage) throws(OutputFault) {
        var made: OpaquePointer?
        let payload = message.payload
        let status = payload.withUnsafeBytes { bytes in
            natsMsg_Create(
                &made, message.subject, nil, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(bytes.count))
        }
        try check(status, "message")
        defer { natsMsg_Destroy(made) }
        var options = jsPubOptions()
        jsPubOptions_Init(&options)
        let publishing = message.id.withCString { id in
            options.MsgId = id
            // Takes the message over if it succeeds.
            return js_PublishMsgAsync(stream, &made, &options)
        }
        try check(publishing, "publishing")
    }

    /// Whether the connection holds.
    func isAlive() -> Bool { natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED }

    // MARK: Faults

    func check(_ status: natsStatus, _ what: String) throws(OutputFault) {
        guard status != NATS_OK else { return }
        throw OutputFault(.unavailable, "\(place): \(what): \(Self.text(status))")
    }

    static func text(_ status: natsStatus) -> String { String(cString: natsStatus_GetText(status)) }

    /// The library's last words of this thread, without the line of its source.
    static func lastWords() -> String {
        var status = NATS_OK
        let words = nats_GetLastError(&status).map { String(cString: $0) } ?? ""
        return NATSErrorCode.withoutSourceLine(words)
    }

    /// Of several servers the last that was tried gives the status, but the words may be another's.
    private func connectingFault(_ status: natsStatus) -> OutputFault {
        let words = Self.lastWords()
        let said = words.isEmpty ? Self.text(status) : words
        let (kind, advice) = NATSErrorCode.meaning(ofWords: said)
        return OutputFault(kind, "\(place): \(said)" + (advice.isEmpty ? "" : "; \(advice)"))
    }
}
