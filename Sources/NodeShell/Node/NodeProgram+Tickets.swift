import NearbyCore
import NearbyDTLS
import NearbyLinux
import NearbyWire
import Telemetry

/// What a node says to `rivulet ticket` and `rivulet connect`: lines that begin with `ok` or
/// `error`.
extension NodeProgram {
    func issueTicket(validFor text: String) -> String {
        guard let seconds = UInt64(text), 1...Limits.ticketSecondsMax ~= seconds else {
            return "error a ticket is valid for 1 s to \(Limits.ticketSecondsMax / 86_400) days"
        }
        let addresses = runner.links.ownAddresses
        guard !addresses.isEmpty else {
            return "error no link has an address: nobody could reach us"
        }
        var ticket = Ticket(
            network: runner.options.configuration.networkTag, peer: runner.node.ownPeer,
            validUntil: unixSeconds &+ seconds, addresses: addresses)
        ticket.proof = proof(of: ticket, ticketKeys[0]).reduce(0) { $0 << 8 | UInt64($1) }
        let isDoubtful = unixSeconds < Limits.plausibleUnixSeconds
        return "ok \(ticket.text)\(isDoubtful ? " clock" : "")"
    }

    func redeem(ticket text: String) -> String {
        let ticket: Ticket
        do throws(Ticket.Fault) {
            ticket = try Ticket(text: text)
        } catch {
            return "error \(error)"
        }
        guard ticket.network == runner.options.configuration.networkTag else {
            return "error the ticket belongs to a network other than \(settings.network), or a "
                + "character is mistyped"
        }
        let isProved = ticketKeys.contains {
            cryptography.constantTimeEquals(proof(of: ticket, $0), ticket.bytes.suffix(8))
        }
        guard isProved else {
            return "error the ticket does not prove our network's secret: a digit is wrong, or the "
                + "secrets differ"
        }
        guard ticket.peer != runner.node.ownPeer else { return "error the ticket is our own" }
        // A clock that was never set cannot say that it is too late.
        let isClockSet = unixSeconds >= Limits.plausibleUnixSeconds
        guard !isClockSet || unixSeconds < ticket.validUntil else {
            return "error the ticket has expired: have a new one made"
        }
        let left = isClockSet ? ticket.validUntil - unixSeconds : Limits.ticketSecondsUnchecked
        let time = Duration.seconds(Int64(min(left, Limits.ticketSecondsMax)))
        runner.tryPeer(
            ticket.peer, at: ticket.addresses, until: MonotonicClock.now() + time)
        log.write(.information, "looking for \(ticket.peer) by a ticket")
        return "ok \(ticket.peer)"
    }

    func nameIfConnected(_ text: String) -> String {
        guard let peer = PeerID(text: text) else { return "error \(text) is no PeerID" }
        return runner.node.name(of: peer).map { "ok \($0)" } ?? refusal(of: peer)
    }

    private func refusal(of peer: PeerID) -> String {
        guard let refused = runner.node.refusal(of: peer) else { return "error not connected" }
        return "error refused: " + runner.text(refused)
    }

    private func proof(of ticket: Ticket, _ key: [UInt8]) -> ArraySlice<UInt8> {
        cryptography.hmac(key: key, ticket.provedBytes).prefix(8)
    }

    /// One for each secret. Where anybody is let in, the proof only tells networks and misprints
    /// apart.
    private var ticketKeys: [[UInt8]] {
        let secrets = settings.secrets.isEmpty ? [Array(settings.network.utf8)] : settings.secrets
        return secrets.map { cryptography.deriveKey(from: $0, purpose: "rivulet ticket") }
    }

    private var cryptography: OpenSSLCryptography {
        OpenSSLCryptography(identity: runner.identity)
    }

    private var unixSeconds: UInt64 {
        let clock = ClockReading(WallClock.read())
        let unix = MonotonicClock.now() + clock.unixOffset
        return UInt64(max(0, unix.nanoseconds / 1_000_000_000))
    }
}

extension Limits {
    /// 30 days.
    package static let ticketSecondsMax: UInt64 = 2_592_000
    /// How long a ticket is used by a node that cannot check it.
    static let ticketSecondsUnchecked: UInt64 = 3_600
    /// 2024-01-01: a clock that says less was never set.
    static let plausibleUnixSeconds: UInt64 = 1_704_067_200
}
