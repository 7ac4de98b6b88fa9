import Glibc
import NearbyCore
import NearbyLinux

/// The loop of one attack: a data socket, a pace, and an end that always comes.
final class Shell {
    let loop: EventLoop
    let transport: UDPTransport
    /// What was sent, bytes of UDP payload.
    private(set) var sentByteCount: Int64 = 0
    var onDatagram: (([UInt8], Endpoint) -> Void)?

    init() throws {
        loop = try EventLoop()
        transport = try UDPTransport()
        for descriptor in transport.descriptors {
            try loop.register(descriptor) { [unowned self] _ in
                transport.receive { onDatagram?($0.bytes, $0.source) }
            }
        }
    }

    func send(_ bytes: [UInt8], to endpoint: Endpoint) {
        sentByteCount += Int64(bytes.count)
        transport.send(bytes, to: endpoint)
    }

    func multicast(_ bytes: [UInt8], on link: LinkID) {
        sentByteCount += Int64(bytes.count)
        transport.multicast(bytes, on: link)
    }

    /// Calls `body` again and again, first at once.
    func every(_ interval: Duration, _ body: @escaping (Instant) -> Void) {
        var timer: EventLoop.TimerID?
        timer = loop.addTimer { [unowned self] now in
            body(now)
            if let timer { loop.set(timer, to: MonotonicClock.now() + interval) }
        }
        if let timer { loop.set(timer, to: MonotonicClock.now()) }
    }

    func after(_ delay: Duration, _ body: @escaping (Instant) -> Void) {
        loop.set(loop.addTimer(body), to: MonotonicClock.now() + delay)
    }

    /// Calls `body`, which says how many bytes it cost, as often as the rate allows. What could not
    /// be sent in time is not made up for.
    func flood(bytesPerSecond rate: Int64, _ body: @escaping (Instant) -> Int) {
        var credit: Int64 = 0
        var last = MonotonicClock.now()
        every(.milliseconds(10)) { now in
            credit = min(credit + rate * (now - last).nanoseconds / 1_000_000_000, rate / 10)
            last = now
            while credit > 0 {
                let cost = body(now)
                if cost <= 0 { break }
                credit -= Int64(cost)
            }
        }
    }

    func run(for duration: Duration) throws {
        try loop.run(until: MonotonicClock.now() + duration)
    }
}

/// A socket that sends from one of our IPv4 addresses, for attacks that seem to come from many.
final class SourceSocket {
    let descriptor: Int32

    init(from source: String) throws(RogueError) {
        descriptor = socket(
            AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw RogueError("socket: errno \(errno)") }
        var form = sockaddr_in()
        form.sin_family = sa_family_t(AF_INET)
        guard inet_pton(AF_INET, source, &form.sin_addr) == 1,
            Self.with(form, { bind(descriptor, $0, $1) }) == 0
        else { throw RogueError("from=\(source): not an IPv4 address of this host") }
    }

    /// Multicasts leave by this interface.
    func choose(_ link: LinkID) {
        var request = ip_mreqn()
        request.imr_ifindex = Int32(truncatingIfNeeded: link.value)
        let size = socklen_t(MemoryLayout<ip_mreqn>.size)
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &request, size)
    }

    func send(_ bytes: [UInt8], to address: TransportAddress) {
        guard case .ipv4(let host, let port) = address else { return }
        var form = sockaddr_in()
        form.sin_family = sa_family_t(AF_INET)
        form.sin_addr.s_addr = host.bigEndian
        form.sin_port = port.bigEndian
        _ = Self.with(form) { Int32(sendto(descriptor, bytes, bytes.count, 0, $0, $1)) }
    }

    func receive() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 2_048)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private static func with(
        _ form: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: form) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// For keys and numbers of the attacker's own.
func randomNumber() -> UInt64 { UInt64.random(in: 1...UInt64.max) }

func say(_ text: String) {
    print(text)
    fflush(nil)
}
