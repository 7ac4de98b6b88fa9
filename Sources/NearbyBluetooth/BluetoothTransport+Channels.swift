import Glibc
import NearbyCore
import NearbyLinux

/// What `ConnectionTable` wants done with L2CAP sockets, and what they tell.
extension BluetoothTransport {
    func pass(_ input: ConnectionTable.Input, _ now: Instant) {
        if table.wantsNeighbours(for: input), let neighbours {
            let addresses = neighbours().compactMap { BluetoothAddress($0.address) }
            _ = table.handle(.neighbours(addresses), now: now)
        }
        for output in table.handle(input, now: now) {
            switch output {
            case .connect(let id, let address, let psm): connect(id, address, psm, now)
            case .write(let bytes, let id): write(bytes, id, now)
            case .close(let id): close(id)
            case .peers(let addresses):
                guard let link = adapter?.link else { continue }
                let endpoints = addresses.map {
                    Endpoint(link: link, address: $0.transportAddress)
                }
                onEvent?(.peers(endpoints), now)
            case .drop(let reason, let count): counters.count(reason, UInt64(clamping: count))
            }
        }
        if table.isConnecting != machine.isConnecting {
            drive(.setConnecting(table.isConnecting), now)
        }
        if table.connected.isEmpty == machine.isLinked {
            drive(.setLinked(!table.connected.isEmpty), now)
        }
        setTimer()
    }

    private func connect(
        _ id: BluetoothChannelID, _ address: BluetoothAddress, _ psm: UInt16, _ now: Instant
    ) {
        guard let adapter else { return pass(.ended(id, code: ENODEV), now) }
        let kind: BluetoothAddressKind = address.kind == .classic ? .classic : adapter.address.kind
        let own = BluetoothAddress(value: adapter.address.value, kind: kind)
        do throws(SystemError) {
            let socket = try ChannelSocket.connecting(from: own, to: address, psm: psm)
            try register(socket, id, for: .writable)
        } catch {
            pass(.ended(id, code: error.code), now)
        }
    }

    func accept(_ listener: ChannelSocket) {
        let now = MonotonicClock.now()
        for _ in 0..<8 {
            guard let (socket, address) = listener.accept() else { return }
            let id = table.makeID()
            guard (try? register(socket, id, for: .readable)) != nil else { continue }
            socket.limitSending()
            pass(.accepted(id, from: address, messageBytesMax: socket.messageBytesMax), now)
        }
    }

    private func register(
        _ socket: ChannelSocket, _ id: BluetoothChannelID, for interest: EventLoop.Readiness
    ) throws(SystemError) {
        try loop.register(socket.file.raw, for: interest) { [unowned self] readiness in
            serve(id, readiness, MonotonicClock.now())
        }
        channels.append((id, socket))
    }

    private func close(_ id: BluetoothChannelID) {
        guard let index = channels.firstIndex(where: { $0.id == id }) else { return }
        loop.unregister(channels.remove(at: index).socket.file.raw)
    }

    private func socket(_ id: BluetoothChannelID) -> ChannelSocket? {
        channels.first { $0.id == id }?.socket
    }

    private func serve(_ id: BluetoothChannelID, _ readiness: EventLoop.Readiness, _ now: Instant) {
        guard let socket = socket(id) else { return }
        if table.isConnecting(id) {
            let code = socket.connectResult
            guard code == 0, !readiness.contains(.hangup) else {
                close(id)
                return pass(.ended(id, code: code), now)
            }
            try? loop.setInterest(.readable, of: socket.file.raw)
            socket.limitSending()
            return pass(.connected(id, messageBytesMax: socket.messageBytesMax), now)
        }
        if readiness.contains(.writable) {
            try? loop.setInterest(.readable, of: socket.file.raw)
            pass(.writable(id), now)
        }
        receive(id, socket, now)
        // Broken without an error that `recv` would tell: readiness would come for ever.
        if readiness.contains(.hangup), self.socket(id) != nil {
            close(id)
            pass(.ended(id, code: 0), now)
        }
    }

    private func receive(_ id: BluetoothChannelID, _ socket: ChannelSocket, _ now: Instant) {
        for _ in 0..<16 {
            guard self.socket(id) != nil else { return }
            switch socket.receive(&buffer) {
            case .nothing: return
            case .ended(let code):
                close(id)
                return pass(.ended(id, code: code), now)
            case .message(let bytes): arrived(bytes, id, now)
            }
        }
    }

    private func arrived(_ bytes: [UInt8], _ id: BluetoothChannelID, _ now: Instant) {
        pass(.received(id), now)
        guard let address = table.address(of: id), let link = adapter?.link else { return }
        received.datagrams &+= 1
        received.bytes &+= UInt64(bytes.count)
        let source = Endpoint(link: link, address: address.transportAddress)
        onEvent?(.datagram(bytes, from: source), now)
    }

    private func write(_ bytes: [UInt8], _ id: BluetoothChannelID, _ now: Instant) {
        guard let socket = socket(id) else { return }
        switch socket.send(bytes) {
        case .sent:
            sent.datagrams &+= 1
            sent.bytes &+= UInt64(bytes.count)
        case .wouldBlock:
            try? loop.setInterest([.readable, .writable], of: socket.file.raw)
            pass(.blocked(id, bytes), now)
        case .failed(let code):
            close(id)
            pass(.ended(id, code: code), now)
        }
    }
}
