import CMosquitto
import Glibc
import Outputs

/// What went wrong, with what to do.
extension BrokerConnection {
    func connectFault(_ result: Int32) -> OutputFault {
        if result == MOSQ_ERR_TLS.code { return tlsFault() }
        let why =
            result == MOSQ_ERR_ERRNO.code ? String(cString: strerror(errno)) : Self.words(result)
        let isName = result == MOSQ_ERR_EAI.code || result == MOSQ_ERR_LOOKUP.code
        let advice =
            isName
            ? "its name cannot be resolved; check host"
            : "is the broker running, and is the port right?"
        return OutputFault(.unavailable, "\(address.settings.target): \(why); \(advice)")
    }

    func loss(_ result: Int32) -> OutputFault {
        let isTLS = [MOSQ_ERR_TLS.code, MOSQ_ERR_TLS_HANDSHAKE.code].contains(result)
        if isTLS || events.certificateFault != nil { return tlsFault() }
        if let code = events.connectCode, code != 0 { return refusal(code) }
        if let code = events.disconnectCode, code > 0x80 { return closed(code) }
        let wasOpen = events.connectCode == 0
        let advice =
            wasOpen ? "it is tried again" : "is this an MQTT broker's port, or does it want TLS?"
        let said = events.lastError.map { "; \($0)" } ?? ""
        return OutputFault(
            .unavailable,
            "\(address.settings.target): the connection was lost (\(Self.words(result))\(said)); "
                + advice)
    }

    func closed(_ code: Int32) -> OutputFault {
        OutputFault(
            .unavailable,
            "\(address.settings.target): the broker closed the connection "
                + "(\(Self.reason(code)))"
                + (code == 0x8e ? "; another client has the same client-id" : ""))
    }

    func tlsFault() -> OutputFault {
        let target = address.settings.target
        guard let why = events.certificateFault else {
            let said = events.lastError ?? "the handshake failed"
            return OutputFault(
                .refused,
                "\(target): no TLS connection: \(said); does the broker speak TLS on that port, "
                    + "and does it want a certificate of ours?")
        }
        return OutputFault(
            .refused,
            "\(target): no TLS connection: \(why); check the broker's certificate, its name and "
                + "dates, and tls in the configuration")
    }

    /// The broker's no, in version 5's or 3.1.1's codes.
    func refusal(_ code: Int32) -> OutputFault {
        let target = address.settings.target
        switch code {
        case 4, 5, 0x86, 0x87, 0x8a:
            let who = address.settings.user.map { "user \($0)" } ?? "anybody without a user"
            return OutputFault(
                .refused,
                "\(target): the broker does not let in \(who); check user and password")
        case 1, 0x84:
            return OutputFault(
                .unsuitable,
                "\(target): the broker does not speak this version of MQTT; change version")
        case 2, 0x85:
            return OutputFault(
                .unsuitable, "\(target): the broker does not take the client-id; set another")
        default: return OutputFault(.unavailable, "\(target): \(Self.reason(code))")
        }
    }

    static func reason(_ code: Int32) -> String {
        PrintableReason.text(String(cString: mosquitto_reason_string(code)))
    }

    static func words(_ result: Int32) -> String {
        String(cString: mosquitto_strerror(result)).filter { $0 != "." }.lowercased()
    }
}
