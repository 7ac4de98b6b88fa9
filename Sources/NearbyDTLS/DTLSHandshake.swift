import COpenSSL
import NearbyCore
import NearbyEngine

extension Limits {
    /// A handshake in which nothing moved for so long, by our own clock, has failed: longer than
    /// OpenSSL takes to give up by the wall clock (twelve retransmissions), which may jump.
    static let handshakeStallMax = Duration.seconds(12)
    /// And no handshake may go on for longer than this, whatever moves.
    static let handshakeLongest = Duration.seconds(60)
}

/// One DTLS 1.2 handshake through OpenSSL.
///
/// Any failure is transient for the caller: a forged message can end an attempt, never more, and a
/// fresh attempt starts with a fresh object. After it finished, the object still answers a client
/// that lost our last flight; drop it once a sealed frame of the other side was opened.
final class DTLSHandshake: SecureChannel {
    private(set) var state = HandshakeState.running
    private let association: DTLSAssociation
    private var filter = RecordFilter()
    private let begun: Instant
    private var lastProgress: Instant
    private var lastStep: UInt32 = .max
    /// When OpenSSL's timer is due, told in our own time.
    private var retransmission: Instant?

    private static let exporterLabel = "EXPORTER-rivulet-channel"

    /// A handshake as client; its first flight waits in `takeOutgoing`.
    init(clientIn context: DTLSContext, now: Instant) {
        association = DTLSAssociation(context)
        begun = now
        lastProgress = now
        SSL_set_connect_state(association.ssl)
        advance(now: now)
    }

    /// Goes on as server with an association whose `DTLSv1_listen` has accepted a ClientHello.
    init(listened association: DTLSAssociation, now: Instant) {
        self.association = association
        begun = now
        lastProgress = now
        advance(now: now)
    }

    func receive(_ datagram: ArraySlice<UInt8>, now: Instant) {
        switch state {
        case .running:
            let records = filter.pass(datagram, in: .handshake)
            guard !records.isEmpty else { return }
            association.wire.input = records
            advance(now: now)
        case .finished:
            let records = filter.pass(datagram, in: .established)
            guard !records.isEmpty else { return }
            association.wire.input = records
            answerRepeatedFlight()
        case .failed:
            return
        }
    }

    func deadlineReached(now: Instant) {
        guard case .running = state else { return }
        if now >= lastProgress + Limits.handshakeStallMax || now >= begun + Limits.handshakeLongest
        {
            return fail(.handshakeTimeout, "no answer for \(Limits.handshakeStallMax)\(hint)")
        }
        guard let due = retransmission, now >= due else { return }
        ERR_clear_error()
        guard shim_DTLSv1_handle_timeout(association.ssl) >= 0 else {
            return fail(.handshakeTimeout, "no answer: \(Self.errorText())")
        }
        guard let left = timerLeft() else { return retransmission = nil }
        if left > Limits.retransmissionLongest + .milliseconds(100) {
            return fail(.handshakeTimeout, "the wall clock went back during the handshake")
        }
        retransmission = now + left
    }

    var nextDeadline: Instant? {
        guard case .running = state else { return nil }
        let end = min(lastProgress + Limits.handshakeStallMax, begun + Limits.handshakeLongest)
        return min(end, retransmission ?? end)
    }

    func takeOutgoing() -> [[UInt8]] { association.takeOutput() }

    func takeDrops() -> DropCounters { filter.takeDrops() }

    private func advance(now: Instant) {
        // A stale entry in OpenSSL's error queue would turn "wants to read" into a failure.
        ERR_clear_error()
        let result = SSL_do_handshake(association.ssl)
        let problem = result == 1 ? SSL_ERROR_NONE : SSL_get_error(association.ssl, result)
        association.wire.input = nil
        let step = SSL_get_state(association.ssl).rawValue
        if step != lastStep {
            lastStep = step
            lastProgress = now
        }
        switch problem {
        case SSL_ERROR_NONE: finish()
        case SSL_ERROR_WANT_READ: updateTimer(now: now)
        default:
            if let refusal = association.wire.certificateRefusal {
                fail(.handshakeCertificate, refusal)
            } else {
                fail(.handshakeFailed, Self.errorText())
            }
        }
    }

    private func finish() {
        retransmission = nil
        guard shim_SSL_get_extms_support(association.ssl) == 1 else {
            return fail(.handshakeFailed, "the other side lacks the extended master secret")
        }
        guard let certificate = SSL_get0_peer_certificate(association.ssl),
            let peer = KeyPair.peer(of: certificate)
        else { return fail(.handshakeCertificate, "no certificate") }
        var exporter = [UInt8](repeating: 0, count: HandshakeResult.exporterByteCount)
        let exported = SSL_export_keying_material(
            association.ssl, &exporter, exporter.count, Self.exporterLabel,
            Self.exporterLabel.utf8.count,
            nil, 0, 0)
        guard exported == 1 else { return fail(.handshakeFailed, Self.errorText()) }
        state = .finished(
            HandshakeResult(
                peer: peer, exporter: exporter, certification: association.wire.certification))
    }

    /// Reads what is there and throws it away: OpenSSL answers a repeated Finished with our last
    /// flight.
    private func answerRepeatedFlight() {
        ERR_clear_error()
        withUnsafeTemporaryAllocation(byteCount: 2_048, alignment: 1) { room in
            while SSL_read(association.ssl, room.baseAddress, Int32(room.count)) > 0 {}
        }
        association.wire.input = nil
    }

    private func fail(_ reason: DropReason, _ text: String) {
        retransmission = nil
        state = .failed(reason, text)
    }

    /// What an alert said, which anybody may have sent: it ends nothing, and may explain a silence.
    private var hint: String {
        filter.lastAlert.map { alert in
            let text = SSL_alert_desc_string_long(Int32(alert)).map { String(cString: $0) }
            return "; somebody says, unproved: \(text ?? "alert \(alert)")"
        } ?? ""
    }

    /// OpenSSL keeps its timer by the wall clock. If that went back, the time left is nonsense:
    /// keep the old deadline, at which `deadlineReached` finds out.
    private func updateTimer(now: Instant) {
        guard let left = timerLeft() else { return retransmission = nil }
        if left <= Limits.retransmissionLongest + .milliseconds(100) {
            retransmission = now + left
        } else if retransmission == nil {
            retransmission = now + Limits.retransmissionLongest
        }
    }

    private func timerLeft() -> Duration? {
        let left = shim_DTLSv1_get_timeout(association.ssl)
        return left < 0 ? nil : .microseconds(left)
    }

    private static func errorText() -> String {
        ERR_reason_error_string(ERR_peek_error()).map { String(cString: $0) } ?? "no reason given"
    }
}
