import NearbyCore
import NearbyEngine
import NearbyWire

/// What becomes of a datagram on its way.
extension Simulator {
    func transmit(_ bytes: [UInt8], from sender: Int, to endpoint: Endpoint) {
        count(bytes, from: sender)
        precondition(bytes.count <= Limits.datagramBytesMax, "datagram of \(bytes.count) bytes")
        guard case .simulated(let number) = endpoint.address, Int(number) < hosts.count else {
            return
        }
        let lan = Host.lan(endpoint.link)
        guard let loss = air.loss(from: sender, to: Int(number), on: lan) else { return }
        tap?(bytes, Int(number))
        if !isLost(loss) {
            deliver(bytes, from: sender, to: Int(number), on: endpoint.link, isMulticast: false)
        }
        // Somebody who has seen other datagrams says that this one came back.
        if isFaulty, faults.returnsDatagrams, datagramCount.isMultiple(of: 50) {
            let forged = lastSent ?? []
            heap.insert(
                .returned(forged, to: sender, of: endpoint), at: now + faults.delay.lowerBound)
        }
        lastSent = bytes
    }

    /// As the host's operating system does, which knows that nobody listens there.
    func giveBack(_ bytes: [UInt8], to source: Endpoint, from host: Int) {
        guard faults.returnsDatagrams, case .simulated(let sender) = source.address else { return }
        let endpoint = Endpoint(link: source.link, address: .simulated(UInt64(host)))
        heap.insert(
            .returned(bytes, to: Int(sender), of: endpoint), at: now + faults.delay.lowerBound)
    }

    func deliver(
        _ bytes: [UInt8], from sender: Int, to receiver: Int, on link: LinkID, isMulticast: Bool
    ) {
        guard !air.isCut(from: sender, to: receiver, on: Host.lan(link)), loses?(bytes) != true
        else { return }
        let source = Endpoint(link: link, address: .simulated(UInt64(sender)))
        var copies = 1
        if isFaulty {
            if percent(faults.lossPercent) { return }
            if percent(faults.duplicationPercent) { copies = 2 }
        }
        for _ in 0..<copies {
            var arriving = bytes
            if isFaulty, percent(faults.corruptionPercent), !arriving.isEmpty {
                let bit = Int.random(in: 0..<arriving.count * 8, using: &random)
                arriving[bit / 8] ^= 1 << (bit % 8)
            }
            heap.insert(
                .datagram(arriving, to: receiver, from: source, isMulticast: isMulticast),
                at: now + random.duration(in: faults.delay))
        }
    }

    private func percent(_ chance: Int) -> Bool {
        chance > 0 && Int.random(in: 0..<100, using: &random) < chance
    }

    /// By distance; nothing is drawn on a wire.
    func isLost(_ loss: Double) -> Bool {
        loss > 0 && Double.random(in: 0..<1, using: &random) < loss
    }

    func count(_ bytes: [UInt8], from sender: Int) {
        sent.datagrams += 1
        sent.bytes[sender] += bytes.count
    }

    func countDiscovery(_ bytes: [UInt8], from sender: Int) {
        if let first = bytes.first, DatagramKind(firstByte: first) == .discovery {
            sent.discoveryFrames[sender] += 1
        }
    }

    func mix(_ bytes: [UInt8], _ receiver: Int) {
        var hash = traceHash ^ UInt64(bitPattern: now.nanoseconds) ^ UInt64(receiver)
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        traceHash = hash
    }
}
