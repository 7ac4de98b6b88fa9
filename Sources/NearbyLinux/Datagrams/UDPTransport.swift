import CLinux
import Glibc
import NearbyCore

extension Limits {
    /// Datagrams that one socket hands over in one pass of the event loop.
    public static let datagramsPerPassMax = 64
    /// How often another port is tried when the kernel's choice is free for one IP version only.
    static let portAttemptsMax = 16
    /// What we ask of the kernel as receive buffer of a data socket, bytes; it may grant less.
    static let receiveBufferBytes: Int32 = 1 << 20
}

/// What became of a datagram. Failures are counted by the transport; nothing waits for another
/// attempt.
public enum SendOutcome: Hashable, Sendable {
    case sent
    /// The socket's buffer is full.
    case wouldBlock
    /// No route, no address, or the link is gone.
    case unreachable
    /// The kernel or the driver is out of buffers.
    case noBuffers
    /// It would leave by a link that is not among `UDPTransport.configuredLinks`.
    case notConfigured
    case failed(code: Int32)
}

/// The data sockets: one for IPv4 and one for IPv6 on one port.
///
/// Received datagrams know the link they came in on, sent ones leave by the link they name. A
/// kernel without one of the two IP versions is served with the other.
public final class UDPTransport {
    /// Lets the kernel's routes choose the link; for static addresses whose link is not known.
    public static let anyLink = LinkID(value: 0)

    /// The UDP port of both sockets.
    public let port: UInt16
    /// What was sent: datagrams and bytes of UDP payload since the start.
    public private(set) var sent: (datagrams: UInt64, bytes: UInt64) = (0, 0)
    private let ipv4: FileDescriptor?
    private let ipv6: FileDescriptor?
    private let receivers: [DatagramReceiver]
    private let sender = DatagramSender()
    /// What `sendSoon` was given last.
    private lazy var train = DatagramTrain()
    /// Nobody has found otherwise.
    private var takesTrains = true
    private var sendDrops = DropCounters()
    /// The links over which datagrams may come and go; all others are dropped and counted. nil:
    /// every link will do. With a set, nothing is sent where the kernel's routes would choose.
    public var configuredLinks: [LinkID]? {
        didSet { for receiver in receivers { receiver.configuredLinks = configuredLinks } }
    }

    /// Binds `port`; 0 takes a port of the kernel's choice that is free for both IP versions.
    public init(port: UInt16 = 0) throws(TransportError) {
        (ipv4, ipv6, self.port) = try Self.openPair(port)
        let batch = DatagramBatch(capacity: 16)
        receivers = [ipv4, ipv6].compactMap { $0.map { DatagramReceiver($0, batch) } }
    }

    /// Without sockets: nothing can be sent, nothing arrives. For nodes that use other links.
    public init(off: Void) {
        (ipv4, ipv6, port) = (nil, nil, 0)
        receivers = []
    }

    /// The sockets, to be registered for reading.
    public var descriptors: [Int32] { [ipv4, ipv6].compactMap { $0?.raw } }

    /// What was received: datagrams and bytes of UDP payload since the start.
    public var received: (datagrams: UInt64, bytes: UInt64) {
        receivers.reduce((0, 0)) { ($0.0 &+ $1.received.datagrams, $0.1 &+ $1.received.bytes) }
    }

    public var drops: DropCounters {
        var all = sendDrops
        for receiver in receivers { all.add(receiver.drops) }
        return all
    }

    /// Hands over what has arrived, at most `Limits.datagramsPerPassMax` from each socket. `body`
    /// may send, but not receive.
    public func receive(_ body: (ReceivedDatagram) -> Void) {
        for receiver in receivers {
            _ = receiver.receive(hasErrors: false, body, returned: { _ in })
        }
    }

    /// The same from one of `descriptors`, with what could not be delivered of what was sent by it.
    ///
    /// - Parameters:
    ///   - readiness: as the event loop told it: `.hangup` means such errors.
    ///   - limit: so many datagrams at most.
    ///   - wanted: asked with the payload of each, before it is copied; `body` is not told of one
    ///     that is not.
    /// - Returns: whether more may wait.
    @discardableResult
    public func receive(
        from descriptor: Int32, readiness: EventLoop.Readiness = .readable,
        atMost limit: Int = Limits.datagramsPerPassMax,
        wanted: (UnsafeRawBufferPointer) -> Bool = { _ in true },
        _ body: (ReceivedDatagram) -> Void, returned: (ReturnedDatagram) -> Void = { _ in }
    ) -> Bool {
        for receiver in receivers where receiver.file.raw == descriptor {
            return receiver.receive(
                hasErrors: readiness.contains(.hangup), atMost: limit, wanted: wanted, body,
                returned: returned)
        }
        return false
    }

    /// Sends from the data port, out of the endpoint's link, with that link's address as source.
    @discardableResult
    public func send(_ bytes: [UInt8], to endpoint: Endpoint) -> SendOutcome {
        let outcome = attempt(bytes, endpoint)
        switch outcome {
        case .sent:
            sent.datagrams &+= 1
            sent.bytes &+= UInt64(bytes.count)
        case .wouldBlock: sendDrops.count(.socketSendWouldBlock)
        case .unreachable: sendDrops.count(.socketSendUnreachable)
        case .noBuffers: sendDrops.count(.socketSendNoBuffers)
        case .notConfigured: sendDrops.count(.interfaceNotConfigured)
        case .failed: sendDrops.count(.socketSendFailed)
        }
        return outcome
    }

    /// Sends as `send` does, with those before and behind it for the same endpoint; `sendWaiting`
    /// sends the last of them.
    public func sendSoon(_ bytes: [UInt8], to endpoint: Endpoint) {
        if takesTrains, train.add(bytes, to: endpoint) { return }
        sendWaiting()
        guard takesTrains, train.add(bytes, to: endpoint) else {
            send(bytes, to: endpoint)
            return
        }
    }

    /// Sends what waits since `sendSoon`.
    public func sendWaiting() {
        guard takesTrains, train.datagramCount > 0, let endpoint = train.endpoint else { return }
        defer { train.removeAll() }
        if train.datagramCount > 1, case .sent = attempt(train, endpoint) {
            sent.datagrams &+= UInt64(train.datagramCount)
            sent.bytes &+= UInt64(train.bytes.count)
            return
        }
        for position in 0..<train.datagramCount {
            send(train.datagram(at: position), to: endpoint)
        }
    }

    /// Sends to the IPv6 and the IPv4 beacon group of a link. True if one of them was sent.
    @discardableResult
    public func multicast(_ bytes: [UInt8], on link: LinkID) -> Bool {
        let six = send(bytes, to: Endpoint(link: link, address: BeaconGroups.ipv6))
        let four = send(bytes, to: Endpoint(link: link, address: BeaconGroups.ipv4))
        return six == .sent || four == .sent
    }

    /// Sends to everybody on a link who has IPv4.
    @discardableResult
    public func broadcast(_ bytes: [UInt8], on link: LinkID) -> SendOutcome {
        send(bytes, to: Endpoint(link: link, address: BeaconGroups.broadcast))
    }

    private func attempt(_ bytes: [UInt8], _ endpoint: Endpoint) -> SendOutcome {
        if let configuredLinks, !configuredLinks.contains(endpoint.link) { return .notConfigured }
        guard let file = file(for: endpoint) else { return .unreachable }
        return sender.send(bytes, to: endpoint, by: file)
    }

    /// An old kernel, a link that cannot checksum or one of smaller datagrams refuses trains: then
    /// there are none any more.
    private func attempt(_ train: DatagramTrain, _ endpoint: Endpoint) -> SendOutcome {
        if let configuredLinks, !configuredLinks.contains(endpoint.link) { return .notConfigured }
        guard let file = file(for: endpoint) else { return .unreachable }
        let outcome = sender.send(train, by: file)
        if case .failed = outcome { takesTrains = false }
        return outcome
    }

    private func file(for endpoint: Endpoint) -> FileDescriptor? {
        switch endpoint.address {
        case .ipv4: ipv4
        case .ipv6: ipv6
        case .bluetooth, .simulated: nil
        }
    }

    private static func openPair(
        _ port: UInt16
    ) throws(TransportError) -> (ipv4: FileDescriptor?, ipv6: FileDescriptor?, port: UInt16) {
        var attempts = port == 0 ? Limits.portAttemptsMax : 1
        while true {
            attempts -= 1
            do throws(TransportError) {
                let four = try open(AF_INET, port: port)
                let chosen = if let four { try Self.port(of: four) } else { port }
                let six = try open(AF_INET6, port: chosen)
                guard let either = four ?? six else { throw TransportError.noInternetProtocol }
                return (four, six, try Self.port(of: either))
            } catch .portInUse(let taken, let call) {
                if attempts == 0 { throw .portInUse(taken, call: call) }
            }
        }
    }

    /// Nil if the kernel lacks the family.
    private static func open(_ family: Int32, port: UInt16) throws(TransportError)
        -> FileDescriptor?
    {
        guard let file = try configured(family) else { return nil }
        return try file.bindToAny(family, port: port) ? file : nil
    }

    private static func configured(_ family: Int32) throws(TransportError) -> FileDescriptor? {
        do throws(SystemError) {
            guard let file = try FileDescriptor.datagramSocket(family) else { return nil }
            if family == AF_INET { try file.set(SO_BROADCAST, at: SOL_SOCKET, to: 1) }
            file.keepReturnedDatagrams(family)
            if !file.trySet(SO_RCVBUFFORCE, at: SOL_SOCKET, to: Limits.receiveBufferBytes) {
                file.trySet(SO_RCVBUF, at: SOL_SOCKET, to: Limits.receiveBufferBytes)
            }
            return file
        } catch {
            throw .system(error)
        }
    }

    private static func port(of file: FileDescriptor) throws(TransportError) -> UInt16 {
        do throws(SystemError) {
            return try file.localAddress().port ?? 0
        } catch {
            throw .system(error)
        }
    }
}
