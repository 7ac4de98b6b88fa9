import Glibc
import NearbyCore
import NearbyLinux
import Testing

private let loopback = LinkID(value: if_nametoindex("lo"))

@Suite struct UDPTransportTests {
    @Test(arguments: [
        TransportAddress.ipv4(address: 0x7f00_0001, port: 0), .ipv6(high: 0, low: 1, port: 0),
    ])
    func aDatagramArrivesWithItsLinkSourceAndDestination(host: TransportAddress) throws {
        let (one, other) = (try UDPTransport(), try UDPTransport())
        let inbox = Inbox(other)
        let target = Endpoint(link: loopback, address: host.with(port: other.port))
        #expect(one.send([1, 2, 3], to: target) == .sent)
        let datagram = try #require(inbox.next())
        #expect(datagram.bytes == [1, 2, 3])
        #expect(datagram.source == Endpoint(link: loopback, address: host.with(port: one.port)))
        #expect(datagram.destination == host)
        #expect(!datagram.isMulticast)
        #expect(one.sent == (1, 3))
        #expect(other.received == (1, 3))
    }

    @Test func withoutALinkTheRouteDecides() throws {
        let (one, other) = (try UDPTransport(), try UDPTransport())
        let inbox = Inbox(other)
        let address = TransportAddress.ipv4(address: 0x7f00_0001, port: other.port)
        #expect(one.send([7], to: Endpoint(link: UDPTransport.anyLink, address: address)) == .sent)
        #expect(inbox.next()?.source.link == loopback)
    }

    @Test func whatIsNotConfiguredNeitherComesNorGoes() throws {
        let (one, other) = (try UDPTransport(), try UDPTransport())
        let inbox = Inbox(other)
        let address = TransportAddress.ipv4(address: 0x7f00_0001, port: other.port)
        let target = Endpoint(link: loopback, address: address)
        other.configuredLinks = [LinkID(value: loopback.value + 1)]
        #expect(one.send([7], to: target) == .sent)
        _ = inbox.next(within: .milliseconds(200))
        #expect(other.drops[.interfaceNotConfigured] == 1)
        #expect(other.received == (0, 0))
        #expect(other.send([8], to: target) == .notConfigured)
        #expect(other.drops[.interfaceNotConfigured] == 2)
        other.configuredLinks = [loopback]
        let undecided = Endpoint(link: UDPTransport.anyLink, address: address)
        #expect(other.send([8], to: undecided) == .notConfigured)
        #expect(one.send([9], to: target) == .sent)
        #expect(inbox.next()?.bytes == [9])
    }

    @Test func anAnswerGoesBackToTheSource() throws {
        let (one, other) = (try UDPTransport(), try UDPTransport())
        let inbox = Inbox(other)
        let target = TransportAddress.ipv6(high: 0, low: 1, port: other.port)
        one.send([1], to: Endpoint(link: loopback, address: target))
        let question = try #require(inbox.next())
        #expect(other.send([2], to: question.source) == .sent)
        #expect(Inbox(one).next()?.bytes == [2])
    }

    /// And what is sent meanwhile to others goes out, whatever error the kernel has to tell.
    @Test(arguments: [
        TransportAddress.ipv4(address: 0x7f00_0001, port: 0), .ipv6(high: 0, low: 1, port: 0),
    ])
    func aDatagramForAPortWhereNobodyListensComesBack(host: TransportAddress) throws {
        let (one, other) = (try UDPTransport(), try UDPTransport())
        let nobody = host.with(port: try UDPTransport().port)
        let target = Endpoint(link: loopback, address: host.with(port: other.port))
        let sent = [UInt8](0..<200)
        #expect(one.send(sent, to: Endpoint(link: loopback, address: nobody)) == .sent)
        #expect(one.send([7], to: target) == .sent)
        #expect(Inbox(other).next()?.bytes == [7])
        var returned: [ReturnedDatagram] = []
        _ = eventually {
            for descriptor in one.descriptors {
                one.receive(from: descriptor, { _ in }, returned: { returned.append($0) })
            }
            return !returned.isEmpty
        }
        let first = try #require(returned.first)
        #expect(first.endpoint.address == nobody)
        #expect(first.quote == Array(sent.prefix(Limits.quotedBytesMax)))
        #expect(returned.count == 1)
        #expect(one.drops == DropCounters())
    }

    /// A train to many is not given up for an error of an earlier datagram.
    @Test func errorsOfEarlierDatagramsStopNoTrain() throws {
        let (one, other) = (try UDPTransport(), try UDPTransport())
        let host = TransportAddress.ipv4(address: 0x7f00_0001, port: 0)
        let nobody = Endpoint(link: loopback, address: host.with(port: try UDPTransport().port))
        let target = Endpoint(link: loopback, address: host.with(port: other.port))
        for _ in 0..<3 {
            one.send([0], to: nobody)
            for number in UInt8(0)..<10 {
                one.sendSoon([UInt8](repeating: number, count: 9), to: target)
            }
            one.sendWaiting()
        }
        var count = 0
        _ = eventually {
            other.receive { _ in count += 1 }
            return count == 30
        }
        #expect(count == 30)
        #expect(one.drops == DropCounters())
    }

    @Test func theKernelsChoiceIsOnePortForBothVersions() throws {
        let transport = try UDPTransport()
        #expect(transport.port != 0)
        #expect(transport.descriptors.count == 2)
        for host in [
            TransportAddress.ipv4(address: 0x7f00_0001, port: 0), .ipv6(high: 0, low: 1, port: 0),
        ] {
            let target = Endpoint(link: loopback, address: host.with(port: transport.port))
            #expect(try UDPTransport().send([0], to: target) == .sent)
        }
        var count = 0
        _ = eventually {
            transport.receive { _ in count += 1 }
            return count == 2
        }
        #expect(count == 2)
    }

    @Test func aPortThatIsTakenIsATypedErrorWithAdvice() throws {
        let first = try UDPTransport()
        do {
            _ = try UDPTransport(port: first.port)
            Issue.record("the port was bound twice")
        } catch {
            #expect(error == .portInUse(first.port, call: "bind 0.0.0.0:\(first.port)"))
            #expect(error.description.contains("UDP port \(first.port) is in use"))
            #expect(error.description.contains("or 0 to let the kernel choose"))
        }
    }

    @Test func theLargestDatagramPassesAndALargerOneIsCounted() throws {
        let (one, other) = (try UDPTransport(), try UDPTransport())
        let inbox = Inbox(other)
        let address = TransportAddress.ipv4(address: 0x7f00_0001, port: other.port)
        let target = Endpoint(link: loopback, address: address)
        let largest = [UInt8](repeating: 9, count: Limits.datagramBytesMax)
        one.send(largest + [9], to: target)
        one.send(largest, to: target)
        one.send([], to: target)
        #expect(inbox.next()?.bytes == largest)
        #expect(inbox.next()?.bytes == [])
        #expect(other.drops[.socketReceiveTruncated] == 1)
    }

    @Test func oneCallHandsOverABoundedNumber() throws {
        let (one, other) = (try UDPTransport(), try UDPTransport())
        let address = TransportAddress.ipv4(address: 0x7f00_0001, port: other.port)
        for _ in 0..<100 { one.send([1], to: Endpoint(link: loopback, address: address)) }
        var counts = [0, 0]
        other.receive { _ in counts[0] += 1 }
        other.receive { _ in counts[1] += 1 }
        #expect(counts == [Limits.datagramsPerPassMax, 100 - Limits.datagramsPerPassMax])
    }

    @Test func whatTheKernelHadNoRoomForIsCounted() throws {
        let (one, other) = (try UDPTransport(), try UDPTransport())
        let inbox = Inbox(other)
        let address = TransportAddress.ipv4(address: 0x7f00_0001, port: other.port)
        let target = Endpoint(link: loopback, address: address)
        let bytes = [UInt8](repeating: 0, count: 1_000)
        for _ in 0..<5_000 { one.send(bytes, to: target) }
        func drain() { while inbox.next(within: .milliseconds(20)) != nil {} }
        drain()
        // The count travels with the next datagram that finds room.
        one.send(bytes, to: target)
        drain()
        let lost = other.drops[.socketReceiveOverflow]
        #expect(lost > 0)
        #expect(lost + other.received.datagrams == 5_001)
    }

    /// Of one size and shorter, to one endpoint and another: each arrives as it is, in order.
    @Test func whatLeavesTogetherArrivesOneByOne() throws {
        let (one, other, third) = (try UDPTransport(), try UDPTransport(), try UDPTransport())
        let host = TransportAddress.ipv6(high: 0, low: 1, port: 0)
        let targets = [other, third].map {
            Endpoint(link: loopback, address: host.with(port: $0.port))
        }
        let sizes = [900, 900, 900, 20, 900, 900, 1_000, 1_000, 5, 5, 5]
        let inboxes = [Inbox(other), Inbox(third)]
        var expected: [[[UInt8]]] = [[], []]
        for (index, size) in (sizes + [Int](repeating: 800, count: 150)).enumerated() {
            let bytes = [UInt8](repeating: UInt8(index), count: size)
            let target = index % 40 == 39 ? 1 : 0
            one.sendSoon(bytes, to: targets[target])
            expected[target].append(bytes)
        }
        one.sendWaiting()
        one.sendWaiting()
        for (inbox, expected) in zip(inboxes, expected) {
            for bytes in expected { #expect(inbox.next()?.bytes == bytes) }
            #expect(inbox.next(within: .milliseconds(20)) == nil)
        }
        #expect(one.sent.datagrams == 161)
        #expect(one.drops == DropCounters())
    }

    @Test func oneOfSeveralThatCannotLeaveIsCounted() throws {
        let transport = try UDPTransport()
        let gone = LinkID(value: 9_999)
        let host = TransportAddress.ipv6(high: 0xfe80 << 48, low: 1, port: 1)
        for _ in 0..<3 { transport.sendSoon([1, 2], to: Endpoint(link: gone, address: host)) }
        transport.sendWaiting()
        #expect(transport.drops[.socketSendUnreachable] == 3)
        #expect(transport.sent == (0, 0))
    }

    @Test func theBodyMaySend() throws {
        let transport = try UDPTransport()
        let address = TransportAddress.ipv4(address: 0x7f00_0001, port: transport.port)
        transport.send([3], to: Endpoint(link: loopback, address: address))
        var seen: [[UInt8]] = []
        _ = eventually {
            transport.receive { datagram in
                seen.append(datagram.bytes)
                if let count = datagram.bytes.first, count > 0 {
                    transport.send([count - 1], to: datagram.source)
                    transport.send([0], to: Endpoint(link: LinkID(value: 9_999), address: address))
                }
            }
            return seen.count == 4
        }
        #expect(seen == [[3], [2], [1], [0]])
        #expect(transport.drops[.socketSendUnreachable] == 3)
    }

    @Test func failuresToSendAreCountedByReason() throws {
        let transport = try UDPTransport()
        let gone = LinkID(value: 9_999)
        let host = TransportAddress.ipv6(high: 0xfe80 << 48, low: 1, port: 1)
        #expect(transport.send([1], to: Endpoint(link: gone, address: host)) == .unreachable)
        #expect(
            transport.send([1], to: Endpoint(link: gone, address: .simulated(1))) == .unreachable)
        #expect(!transport.multicast([1], on: gone))
        let tooLong = [UInt8](repeating: 0, count: 70_000)
        let local = TransportAddress.ipv4(address: 0x7f00_0001, port: transport.port)
        #expect(
            transport.send(tooLong, to: Endpoint(link: loopback, address: local))
                == .failed(code: EMSGSIZE))
        #expect(transport.drops[.socketSendUnreachable] == 4)
        #expect(transport.drops[.socketSendFailed] == 1)
        #expect(transport.sent == (0, 0))
    }

    @Test func severalAgentsOfOneHostHearTheSameBeacon() throws {
        let sender = try UDPTransport()
        let agents = try [BeaconSocket(), BeaconSocket()]
        // Twice: joining anew is how a link that came back is heard again.
        for agent in agents + agents { #expect(agent.join(loopback).ipv4) }
        let beacon = Array("several agents \(getpid())".utf8)
        #expect(sender.multicast(beacon, on: loopback))
        for agent in agents {
            var heard: ReceivedDatagram?
            #expect(
                eventually {
                    agent.receive { if $0.bytes == beacon { heard = $0 } }
                    return heard != nil
                })
            #expect(heard?.source.address.port == sender.port)
            #expect(heard?.isMulticast == true)
        }
        agents[0].leave(loopback)
        agents[0].leave(LinkID(value: 9_999))
        #expect(agents[0].links.isEmpty)
        sender.multicast(beacon, on: loopback)
        var count = 0
        _ = eventually(within: .milliseconds(50)) {
            agents[0].receive { if $0.bytes == beacon { count += 1 } }
            return false
        }
        #expect(count == 0)
    }
}
