import NearbyCore
import NearbyWire

/// What comes from other members, and what the program sends them.
extension GroupMachine {
    mutating func received(
        _ bytes: [UInt8], from peer: PeerID, _ isReliable: Bool, _ now: Instant
    ) -> [Output] {
        let message: GroupMessage
        do throws(WireError) {
            message = try GroupMessage(parsing: bytes)
        } catch {
            return [.drop(.groupMalformed)]
        }
        if case .data(let number, let data) = message {
            return received(Array(data), number, from: peer, isReliable)
        }
        if case .part(let number, let data) = message, isReliable {
            return partReceived(data, number, from: peer)
        }
        // All else has an order.
        guard isReliable else { return [.drop(.groupMalformed)] }
        switch message {
        case .invite(let invite): return invited(invite, by: peer, now)
        case .answer(let number, let answer): return answered(answer, number, by: peer, now)
        case .cancel(let number): return withdrawn(number, by: peer)
        case .connect(let connect): return connectReceived(connect, from: peer, now)
        case .ready(let pair): return readyReceived(pair, from: peer)
        case .end(let pair, let reason): return endReceived(pair, reason, from: peer, now)
        case .members(let pair, let members): return introduced(members, pair, by: peer, now)
        case .data, .part: return []
        }
    }

    private mutating func received(
        _ data: [UInt8], _ number: UInt16, from peer: PeerID, _ isReliable: Bool
    ) -> [Output] {
        guard let session = connectedSession(number, of: peer) else {
            return [.drop(.groupNotConnected)]
        }
        let message = isReliable ? parts.take(number, endingWith: data) : data
        return [.event(.message(message, from: peer, session, isReliable: isReliable))]
    }

    /// Who sends more than a message may have, or more than all members together, is parted with.
    private mutating func partReceived(
        _ data: ArraySlice<UInt8>, _ number: UInt16, from peer: PeerID
    ) -> [Output] {
        guard let session = connectedSession(number, of: peer) else {
            return [.drop(.groupNotConnected)]
        }
        if parts.add(data, to: number) { return [] }
        return [.drop(.groupTooLong)] + end(peer, session, .full, .ended(.full))
    }

    private func connectedSession(_ number: UInt16, of peer: PeerID) -> SessionNumber? {
        guard let target = numbers[number], target.peer == peer,
            sessions[target.session]?.members[peer]?.isConnected == true
        else { return nil }
        return target.session
    }

    func send(
        _ data: [UInt8], to peer: PeerID, _ number: SessionNumber, _ isReliable: Bool
    ) -> [Output] {
        guard let member = sessions[number]?.members[peer],
            case .connected(let theirNumber) = member.phase
        else { return [.drop(.groupNotConnected)] }
        guard isReliable else {
            let bytes = GroupMessage.data(number: theirNumber, data[...]).bytes
            return [.sendUnreliable(bytes, to: peer)]
        }
        return GroupMessage.parts(of: data, theirNumber).map { .sendReliable($0.bytes, to: peer) }
    }
}
