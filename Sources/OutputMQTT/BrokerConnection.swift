import CMosquitto
import CollectorConfiguration
import Configuration
import Glibc
import Outputs

/// What is agreed on before a connection is made.
struct BrokerAddress {
    var settings: MQTTSettings
    var clientID: String
    /// Published by the broker when the connection is lost.
    var will: MQTTMessage
    /// 5 or 4 (3.1.1).
    var protocolVersion: Int32
}

/// A connection to a broker through libmosquitto, used by one thread only: the library's network
/// side runs while `pump` does, and its callbacks come on the same thread, into `BrokerEvents`.
final class BrokerConnection {
    let events: BrokerEvents
    let address: BrokerAddress
    private let client: OpaquePointer
    /// Without progress for so long the broker counts as gone.
    let patience: Duration

    /// Makes the client; nothing is sent yet.
    init(_ address: BrokerAddress, patience: Duration) throws(OutputFault) {
        _ = Self.library
        let events = BrokerEvents()
        guard
            let client = mosquitto_new(
                address.clientID, true, Unmanaged.passUnretained(events).toOpaque())
        else {
            throw OutputFault(
                .unsuitable, "the client-id \(address.clientID) cannot be used; choose another")
        }
        self.events = events
        self.address = address
        self.client = client
        self.patience = patience
        events.register(client)
        mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, address.protocolVersion)
        mosquitto_int_option(client, MOSQ_OPT_SEND_MAXIMUM, Int32(Self.inFlightMax))
        mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
    }

    /// Once a process, and never undone: other connections may exist.
    private static let library: Int32 = mosquitto_lib_init()

    /// Messages that the broker has not yet acknowledged.
    static let inFlightMax = 100

    deinit { mosquitto_destroy(client) }

    // MARK: Opening

    /// Connects, and waits for the broker's answer.
    func open() throws(OutputFault) {
        try prepare()
        let settings = address.settings
        let result = mosquitto_connect_bind_v5(
            client, settings.host, Int32(settings.port), Self.keepAliveSeconds, nil, nil)
        guard result == MOSQ_ERR_SUCCESS.code else { throw connectFault(result) }
        try wait { events.connectCode != nil }
        guard let code = events.connectCode, code != 0 else { return }
        throw refusal(code)
    }

    /// Whether the attempt may have failed because the broker does not know MQTT 5: it says so, or
    /// hangs up.
    var mayBeOfOldBroker: Bool {
        switch events.connectCode {
        case 1, 0x84: true
        case nil: events.count > 0 && events.certificateFault == nil && events.lastError == nil
        default: false
        }
    }

    private static let keepAliveSeconds: Int32 = 30

    /// User, password, certificates, last will.
    private func prepare() throws(OutputFault) {
        let settings = address.settings
        if let user = settings.user {
            let password = try password(settings.password)
            mosquitto_username_pw_set(client, user, password)
        }
        let will = address.will
        mosquitto_will_set(
            client, will.topic, Int32(will.payload.count), will.payload, 1, will.isRetained)
        let tls = settings.tls
        guard tls.isOn else { return }
        for path in [tls.authority, tls.certificate, tls.key] {
            if let path { try readable(path) }
        }
        let result = mosquitto_tls_set(
            client, tls.authority, tls.authority == nil ? "/etc/ssl/certs" : nil, tls.certificate,
            tls.key, rivulet_mosquitto_no_password)
        mosquitto_tls_opts_set(client, 1, nil, nil)
        guard result == MOSQ_ERR_SUCCESS.code else {
            throw OutputFault(
                .refused, "the files of tls cannot be used (\(Self.words(result))); check them")
        }
    }

    private func password(_ source: PasswordSource) throws(OutputFault) -> String? {
        do throws(PasswordSource.Fault) {
            return try source.read()
        } catch {
            throw OutputFault(.refused, "the broker's password: \(error)")
        }
    }

    private func readable(_ path: String) throws(OutputFault) {
        do throws(SmallFile.Fault) {
            _ = try SmallFile.read(
                path, limit: 1 << 20, isPrivate: path == address.settings.tls.key)
        } catch {
            throw OutputFault(.refused, "\(path): \(error)")
        }
    }

    // MARK: Talking

    enum Publication {
        /// The number tells its acknowledgement.
        case sent(Int32)
        /// It is not one that a broker, or this one, can be sent.
        case impossible(String)
    }

    func publish(_ message: MQTTMessage) throws(OutputFault) -> Publication {
        var number: Int32 = 0
        let result = mosquitto_publish_v5(
            client, &number, message.topic, Int32(message.payload.count), message.payload,
            message.isAcknowledged ? 1 : 0, message.isRetained, nil)
        let impossible = [
            MOSQ_ERR_INVAL, MOSQ_ERR_MALFORMED_UTF8, MOSQ_ERR_PAYLOAD_SIZE,
            MOSQ_ERR_OVERSIZE_PACKET,
            MOSQ_ERR_QOS_NOT_SUPPORTED, MOSQ_ERR_RETAIN_NOT_SUPPORTED,
        ]
        if impossible.contains(where: { $0.code == result }) {
            return .impossible(Self.words(result))
        }
        guard result == MOSQ_ERR_SUCCESS.code else { throw loss(result) }
        return .sent(number)
    }

    /// Subscribes, and waits for the answer. What comes is in the events.
    /// - Returns: whether we may.
    func subscribe(_ filter: String, qos: Int32 = 0) throws(OutputFault) -> Bool {
        var number: Int32 = 0
        let result = mosquitto_subscribe_v5(client, &number, filter, qos, 0, nil)
        guard result == MOSQ_ERR_SUCCESS.code else { throw loss(result) }
        try wait { events.subscribed == number }
        return events.subscribeCode < 0x80
    }

    /// What cannot be done without.
    func mustSubscribe(_ filter: String, qos: Int32 = 0) throws(OutputFault) {
        guard try subscribe(filter, qos: qos) else {
            throw OutputFault(
                .refused,
                "\(address.settings.target): may not subscribe to \(filter); allow the user to "
                    + "read it")
        }
    }

    /// Waits until the broker has handled whatever was sent before: it answers in order.
    func fence(_ filter: String) throws(OutputFault) {
        var number: Int32 = 0
        let result = mosquitto_unsubscribe_v5(client, &number, filter, nil)
        guard result == MOSQ_ERR_SUCCESS.code else { throw loss(result) }
        try wait { events.unsubscribed == number }
    }

    /// Says goodbye: the broker publishes no last will. A moment is given to what was sent.
    func disconnect() {
        mosquitto_disconnect_v5(client, 0, nil)
        for _ in 0..<20 where mosquitto_socket(client) >= 0 { _ = pump(.milliseconds(10)) }
    }

    /// Runs the network side until the condition holds.
    func wait(until isDone: () -> Bool) throws(OutputFault) {
        var progress = events.count
        var deadline = Moment.now + patience
        while !isDone() {
            let result = pump(.milliseconds(100))
            guard result == MOSQ_ERR_SUCCESS.code else { throw loss(result) }
            if let code = events.disconnectCode { throw closed(code) }
            if events.count != progress {
                progress = events.count
                deadline = Moment.now + patience
            }
            guard Moment.now < deadline else {
                throw OutputFault(
                    .unavailable,
                    "\(address.settings.target): no answer from the broker for "
                        + "\(patience.components.seconds) s; it is tried again")
            }
        }
    }

    /// Does what there is to do without waiting.
    func turn() throws(OutputFault) {
        let result = pump(.zero)
        guard result == MOSQ_ERR_SUCCESS.code else { throw loss(result) }
        if let code = events.disconnectCode { throw closed(code) }
    }

    /// Gives the network side what there is to do, waiting for it at most so long.
    private func pump(_ limit: Duration) -> Int32 {
        let socket = mosquitto_socket(client)
        guard socket >= 0 else { return MOSQ_ERR_CONN_LOST.code }
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if mosquitto_want_write(client) { entry.events |= Int16(POLLOUT) }
        poll(&entry, 1, Int32(limit.components.attoseconds / 1_000_000_000_000_000))
        if entry.revents & Int16(POLLOUT) != 0 {
            let result = mosquitto_loop_write(client, 1)
            guard result == MOSQ_ERR_SUCCESS.code else { return result }
        }
        // Also without news from the socket: TLS may hold some back.
        let result = mosquitto_loop_read(client, 1)
        return result == MOSQ_ERR_SUCCESS.code ? mosquitto_loop_misc(client) : result
    }
}

extension mosq_err_t {
    /// As functions return it.
    var code: Int32 { rawValue }
}
