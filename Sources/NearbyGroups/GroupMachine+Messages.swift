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
            return partReceived(data, number, from: peer, now)
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
        case .hold(let number, let isHeld):
            guard let session = sessions.connected(number, of: peer) else {
                return [.drop(.groupNotConnected)]
            }
            return [.event(.held(peer, session, isHeld))]
        case .data, .part: return []
        }
    }

    private mutating func received(
        _ data: [UInt8], _ number: UInt16, from peer: PeerID, _ isReliable: Bool
    ) -> [Output] {
        guard let session = sessions.connected(number, of: peer) else {
            return [.drop(.groupNotConnected)]
        }
        let message = isReliable ? parts.take(number, endingWith: data) : data
        return [.event(.message(message, from: peer, session, isReliable: isReliable))]
    }

    /// Who sends more than a message may have is parted with. Where all members' parts together are
    /// too many, so is the one whose parts have waited for longest: not the one that sends, who may
    /// have done nothing wrong. A member can introduce others that each begin and never end.
    private mutating func partReceived(
        _ data: ArraySlice<UInt8>, _ number: UInt16, from peer: PeerID, _ now: Instant
    ) -> [Output] {
        guard let session = sessions.connected(number, of: peer) else {
            return [.drop(.groupNotConnected)]
        }
        guard parts.mayGrow(number, by: data) else {
            return [.drop(.groupTooLong)] + end(peer, session, .full, .ended(.full))
        }
        let evicted = parts.makeRoom(for: data)
        if !evicted.contains(number) { parts.add(data, to: number, now) }
        return evicted.compactMap { sessions.target(of: $0) }.flatMap {
            [Output.drop(.groupTableFull)] + end($0.peer, $0.session, .full, .ended(.full))
        }
    }
}
