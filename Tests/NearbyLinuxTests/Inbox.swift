import NearbyCore
import NearbyLinux

/// Takes the datagrams of a socket one by one.
final class Inbox {
    private let receive: ((ReceivedDatagram) -> Void) -> Void
    private var waiting: [ReceivedDatagram] = []

    init(_ transport: UDPTransport) { receive = transport.receive }

    init(_ socket: BeaconSocket) { receive = socket.receive }

    /// The oldest datagram, waited for at most so long.
    func next(within limit: Duration = .seconds(5)) -> ReceivedDatagram? {
        let isThere = eventually(within: limit) {
            if waiting.isEmpty { receive { waiting.append($0) } }
            return !waiting.isEmpty
        }
        return isThere ? waiting.removeFirst() : nil
    }
}
