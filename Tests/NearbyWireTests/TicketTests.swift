import NearbyCore
import NearbyWire
import Testing

struct TicketTests {
    private let ticket = Ticket(
        network: NetworkTag(value: 0x1122_3344_5566_7788),
        peer: PeerID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10),
        validUntil: 1_787_386_112,
        addresses: [
            .ipv4(address: 0x0a4d_0102, port: 4_577),
            .ipv6(high: 0xfe80_0000_0000_0000, low: 1, port: 4_577),
        ], proof: 0xa1a2_a3a4_a5a6_a7a8)

    @Test func ticketBytes() throws {
        try expectSound(
            vector: "ticket", ticket, emit: \.bytes, parse: { try Ticket(parsing: $0) })
    }

    @Test func theTextIsReadAsPeopleCopyIt() throws {
        let text = ticket.text
        #expect(text.hasPrefix("rivulet-"))
        #expect(try Ticket(text: text) == ticket)
        #expect(try Ticket(text: "  " + text.uppercased() + "\n") == ticket)
        let digits = text.dropFirst(8)
        #expect(try Ticket(text: "rivulet-" + digits.replacing("-", with: "")) == ticket)
        #expect(try Ticket(text: "rivulet-" + digits.replacing("-", with: " \n")) == ticket)
    }

    @Test func whatIsNoTicketIsSaidSo() {
        let text = ticket.text
        #expect(throws: Ticket.Fault.notATicket) { try Ticket(text: "") }
        #expect(throws: Ticket.Fault.notATicket) { try Ticket(text: String(text.dropFirst())) }
        #expect(throws: Ticket.Fault.incomplete) { try Ticket(text: "rivulet-") }
        for count in 1..<text.count - 8 {
            let part = String(text.dropLast(count))
            #expect(throws: Ticket.Fault.incomplete) { try Ticket(text: part) }
        }
        #expect(throws: Ticket.Fault.incomplete) { try Ticket(text: text + "!") }
        let later = "rivulet-" + Base32.text([2] + ticket.bytes.dropFirst())
        #expect(throws: Ticket.Fault.version(2)) { try Ticket(text: later) }
        let long = "rivulet-" + String(repeating: "a", count: 100_000)
        #expect(throws: Ticket.Fault.incomplete) { try Ticket(text: long) }
    }

    @Test func moreAddressesThanFitAreLeftOut() throws {
        let many = (0..<20 as Range<UInt32>).map { TransportAddress.ipv4(address: $0, port: 1) }
        let large = Ticket(
            network: ticket.network, peer: ticket.peer, validUntil: 0,
            addresses: [.simulated(1)] + many)
        #expect(large.addresses == Array(many.prefix(8)))
        #expect(try Ticket(text: large.text) == large)
    }
}
