import NearbyCore
import NearbyWire

/// What the peer says.
extension TransferMachine {
    mutating func receive(_ message: [UInt8], _ now: Instant, _ outputs: inout [Output]) {
        let packet: TransferPacket
        do throws(WireError) {
            packet = try TransferPacket(parsing: message)
        } catch {
            outputs.append(.drop(.transferMalformed))
            return
        }
        let lane = Int(packet.lane.rawValue)
        if let number = packet.number, received[lane].knows(number) {
            received[lane].receivedAgain(now: now)
            outputs.append(.drop(.transferDuplicate))
            return
        }
        for frame in packet.frames {
            do throws(IncomingBytes.Violation) {
                try receive(frame, now, &outputs)
            } catch {
                // Not acknowledged, it comes again.
                outputs.append(.drop(.transferTableFull))
                return
            }
        }
        if let number = packet.number { received[lane].received(number, now: now) }
    }

    private mutating func receive(
        _ frame: TransferFrame, _ now: Instant, _ outputs: inout [Output]
    ) throws(IncomingBytes.Violation) {
        switch frame {
        case .ping: break
        case .acknowledgement(let frame): receive(frame, now, &outputs)
        case .data(let body, let offset, let bytes, let isLast):
            switch body.kind {
            case .stream:
                try admitNew()
                let effects = try incomingStreams.received(
                    bytes, of: body.number, at: offset, isLast: isLast)
                apply(effects, &outputs)
            case .resource:
                let effects = try incomingResources.received(
                    bytes, of: body.number, at: offset, isLast: isLast)
                apply(effects, &outputs)
            }
        case .open(let number, let group, let name):
            try admitNew()
            apply(incomingStreams.opened(number, group, name), &outputs)
        case .offer(let number, let offer):
            try admitNew()
            apply(incomingResources.offered(number, offer), &outputs)
        case .reset(let body, let reason, let finalSize):
            try admitNew()
            apply(wasReset(body, reason, finalSize), &outputs)
        case .digest(let number, let hash):
            apply(incomingResources.digest(number, hash), &outputs)
        case .stop, .limit, .limitOfAll, .limitOfNumbers, .accept, .verified:
            apply(receiveReaders(frame), &outputs)
        }
    }

    /// A peer that begins more and more, and takes none of our answers, is not listened to.
    private func admitNew() throws(IncomingBytes.Violation) {
        guard frames.count < Limits.transferFramesMax else { throw .pieces }
    }

    private mutating func wasReset(
        _ body: TransferFrame.Body, _ reason: TransferEnd, _ finalSize: UInt64
    ) -> TransferEffects {
        body.kind == .stream
            ? incomingStreams.wasReset(body.number, reason, finalSize: finalSize)
            : incomingResources.wasReset(body.number, reason, finalSize: finalSize)
    }

    /// What the peer says of our own streams and resources.
    private mutating func receiveReaders(_ frame: TransferFrame) -> TransferEffects {
        switch frame {
        case .stop(let body, let reason):
            return body.kind == .stream
                ? outgoingStreams.stopped(body.number, reason)
                : outgoingResources.stopped(body.number, reason)
        case .limit(let body, let limit):
            if body.kind == .stream {
                outgoingStreams.raise(body.number, limit: limit)
            } else {
                outgoingResources.raise(body.number, limit: limit)
            }
        case .limitOfAll(.stream, let limit): outgoingStreams.raise(limitOfAll: limit)
        case .limitOfAll(.resource, let limit): outgoingResources.raise(limitOfAll: limit)
        case .limitOfNumbers(.stream, let limit):
            return outgoingStreams.raise(limitOfNumbers: limit)
        case .limitOfNumbers(.resource, let limit):
            return outgoingResources.raise(limitOfNumbers: limit)
        case .accept(let number, let offset, let limit):
            return outgoingResources.accepted(number, from: offset, limit: limit)
        case .verified(let number): return outgoingResources.verified(number)
        default: break
        }
        return TransferEffects()
    }

    private mutating func receive(
        _ frame: PacketAcknowledgement, _ now: Instant, _ outputs: inout [Output]
    ) {
        let lane = Int(frame.lane.rawValue)
        let isBulkBusy = sent[Int(TransferLane.bulk.rawValue)].inFlightCount > 0
        guard let arrival = sent[lane].receive(frame, path.rtt, now: now) else {
            outputs.append(.drop(.acknowledgementUnsent))
            return
        }
        path.arrived(
            arrival, in: frame.lane, delay: frame.delay, isBulkBusy: isBulkBusy, now: now)
        for packet in arrival.packets {
            if let data = packet.data { arrived(data, &outputs) }
            for case .data(let data) in packet.others { arrived(data, &outputs) }
        }
        detectLosses(in: lane, now)
    }

    private mutating func arrived(_ data: SentData, _ outputs: inout [Output]) {
        switch data.kind {
        case .stream: apply(outgoingStreams.arrived(data), &outputs)
        case .resource: apply(outgoingResources.arrived(data), &outputs)
        }
    }

    mutating func detectLosses(in lane: Int, _ now: Instant) {
        let loss = sent[lane].detectLosses(path.rtt, now: now)
        path.lost(loss, now: now)
        for packet in loss.packets { sendAgain(packet) }
        sent[lane].trim(path.rtt, now: now)
    }

    mutating func sendAgain(_ packet: SentPacket) {
        if let data = packet.data { sendAgain(data) }
        for frame in packet.others {
            switch frame {
            case .data(let data): sendAgain(data)
            case .frame(let frame): frames.append(frame)
            }
        }
    }

    private mutating func sendAgain(_ data: SentData) {
        switch data.kind {
        case .stream: outgoingStreams.lost(data)
        case .resource: outgoingResources.lost(data)
        }
    }
}
