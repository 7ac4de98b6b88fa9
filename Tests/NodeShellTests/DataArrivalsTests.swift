import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import Testing

@testable import NodeShell

/// Real sockets, both versions of IP, and a node that is not there.
struct DataArrivalsTests {
    private final class Handled {
        var datagrams: [[UInt8]] = []
    }

    private static let loopback = LinkID(value: if_nametoindex("lo"))

    /// As the head of a sealed frame has it.
    private func frame(_ priority: Priority, index: UInt8, _ number: Int) -> [UInt8] {
        [0x80 | priority.rawValue << 3, 0, 0, 0, index] + [UInt8](repeating: 0, count: 60)
            + [UInt8(number >> 8), UInt8(number & 255)]
    }

    /// Much of one channel waits at one socket and a little at the other: what is urgent does not
    /// wait for all that came before it, whichever socket tells first.
    @Test(arguments: [true, false]) func whatIsUrgentOvertakes(isFloodIPv4: Bool) throws {
        let (here, there) = (try UDPTransport(), try UDPTransport())
        let (four, six) = (
            TransportAddress.ipv4(address: 0x7f00_0001, port: here.port),
            TransportAddress.ipv6(high: 0, low: 1, port: here.port)
        )
        let flooded = Endpoint(link: Self.loopback, address: isFloodIPv4 ? four : six)
        let other = Endpoint(link: Self.loopback, address: isFloodIPv4 ? six : four)
        for number in 0..<250 {
            #expect(there.send(frame(.bulk, index: 1, number), to: flooded) == .sent)
        }
        #expect(there.send(frame(.fresh, index: 2, 0), to: flooded) == .sent)
        for number in 0..<3 {
            #expect(there.send(frame(.bulk, index: 3, number), to: other) == .sent)
        }

        let loop = try EventLoop()
        let handled = Handled()
        let arrivals = DataArrivals(
            here, loop, isAdmitted: { $0 < 10 },
            handle: { inputs, _ in
                for case .datagram(let bytes, _, _) in inputs { handled.datagrams.append(bytes) }
                if handled.datagrams.count == 254 { loop.stop() }
            })
        try arrivals.open()
        try loop.run(until: MonotonicClock.now() + .seconds(10))

        try #require(handled.datagrams.count == 254)
        let urgent = handled.datagrams.firstIndex { $0[4] == 2 } ?? .max
        // One pass of the socket, and a turn or two.
        #expect(urgent < 64 + 16)
        let lastOfOther = handled.datagrams.lastIndex { $0[4] == 3 } ?? .max
        #expect(lastOfOther < 64 + 32)
        let flood = handled.datagrams.filter { $0[4] == 1 }
        #expect(flood == (0..<250).map { frame(.bulk, index: 1, $0) })
        #expect(arrivals.drops == DropCounters())
    }

    @Test func whatDoesNotFitIsCounted() throws {
        let (here, there) = (try UDPTransport(), try UDPTransport())
        let loop = try EventLoop()
        let handled = Handled()
        let to = Endpoint(
            link: Self.loopback, address: .ipv4(address: 0x7f00_0001, port: here.port))
        var sent = 0
        let arrivals = DataArrivals(
            here, loop, isAdmitted: { _ in true },
            handle: { inputs, _ in
                for case .datagram(let bytes, _, _) in inputs { handled.datagrams.append(bytes) }
                // For each that is opened ten more come.
                for _ in 0..<inputs.count * 10 where sent < 30_000 {
                    if there.send(frame(.reliable, index: 1, sent), to: to) == .sent { sent += 1 }
                }
            })
        try arrivals.open()
        for _ in 0..<70 where there.send(frame(.reliable, index: 1, sent), to: to) == .sent {
            sent += 1
        }
        let end = loop.addTimer { _ in loop.stop() }
        loop.set(end, to: MonotonicClock.now() + .seconds(3))
        try loop.run()
        let lost = arrivals.drops[.arrivalsFullReliable]
        #expect(sent == 30_000)
        #expect(lost > 1_000)
        let overflow = here.drops[.socketReceiveOverflow]
        #expect(handled.datagrams.count + Int(lost) + Int(overflow) == sent)
    }
}
