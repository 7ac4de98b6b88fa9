import NearbyCore
import NearbyWire

/// Our sessions and their members, under the names by which messages find them.
///
/// Each session has one name, and each member of each session one number, which is written before
/// data for us: sessions, names and numbers come and go together.
struct SessionTable: Sendable {
    /// At most `Limits.sessionsMax`.
    private(set) var all: [SessionNumber: LocalSession] = [:]
    /// Ours, by their names.
    private var named: [SessionID: SessionNumber] = [:]
    private var targets: [UInt16: DataTarget] = [:]

    var count: Int { all.count }

    /// In rising order.
    var numbers: [SessionNumber] { all.keys.sorted() }

    subscript(number: SessionNumber) -> LocalSession? { all[number] }

    /// A member; what is set must be there.
    subscript(peer: PeerID, number: SessionNumber) -> Member? {
        get { all[number]?.members[peer] }
        set { all[number]?.members[peer] = newValue }
    }

    func number(named name: SessionID) -> SessionNumber? { named[name] }

    /// Of the two sessions that a peer names: ours, and its own where that is a member.
    func member(named pair: SessionPair, of peer: PeerID) -> (SessionNumber, Member)? {
        guard let number = named[pair.to], let member = self[peer, number],
            member.session == pair.from
        else { return nil }
        return (number, member)
    }

    /// The session that data with this number are for, if the peer is a connected member of it.
    func connected(_ dataNumber: UInt16, of peer: PeerID) -> SessionNumber? {
        guard let target = targets[dataNumber], target.peer == peer,
            self[peer, target.session]?.isConnected == true
        else { return nil }
        return target.session
    }

    /// Whom data with this number are from.
    func target(of dataNumber: UInt16) -> DataTarget? { targets[dataNumber] }

    // MARK: Sessions

    /// - Returns: false, and nothing is done, where there is no place, or one of the two is taken.
    mutating func open(_ number: SessionNumber, _ id: SessionID, _ terms: SessionTerms) -> Bool {
        guard all.count < Limits.sessionsMax, all[number] == nil, named[id] == nil else {
            return false
        }
        all[number] = LocalSession(number: number, id: id, terms: terms)
        named[id] = number
        return true
    }

    /// A session without members goes, or begins anew under another name.
    mutating func close(_ number: SessionNumber, renamed name: SessionID?) {
        guard let session = all.removeValue(forKey: number) else { return }
        named[session.id] = nil
        guard let name else { return }
        all[number] = LocalSession(number: number, id: name, terms: session.terms)
        named[name] = number
    }

    // MARK: Members

    /// A peer's session becomes a member that is lost so far.
    ///
    /// - Returns: false where there is no place.
    mutating func add(
        _ new: GroupMember, to number: SessionNumber, introducer: PeerID?, _ now: Instant,
        using random: inout SeededGenerator
    ) -> Bool {
        guard all[number]?.members.count ?? .max < Limits.sessionMembersMax,
            let dataNumber = freeNumber(using: &random)
        else { return false }
        targets[dataNumber] = DataTarget(session: number, peer: new.peer)
        all[number]?.members[new.peer] = Member(
            session: new.session, number: dataNumber, introducer: introducer,
            phase: .lost(until: now))
        return true
    }

    private func freeNumber(using random: inout SeededGenerator) -> UInt16? {
        guard targets.count < Int(UInt16.max) / 2 else { return nil }
        while true {
            let number = UInt16.random(in: 0...UInt16.max, using: &random)
            if targets[number] == nil { return number }
        }
    }

    /// - Returns: who it was.
    mutating func remove(_ peer: PeerID, from number: SessionNumber) -> Member? {
        guard let member = all[number]?.members.removeValue(forKey: peer) else { return nil }
        targets[member.number] = nil
        return member
    }

    /// When the first member has something to do.
    var nextDeadline: Instant {
        all.values.reduce(.distantFuture) { first, session in
            session.members.values.reduce(first) { min($0, $1.deadline ?? .distantFuture) }
        }
    }
}

// MARK: What members are told

extension SessionTable {
    /// That their side is accepted.
    func sayReady(_ peer: PeerID, _ number: SessionNumber) -> [GroupOutput] {
        let pair = all[number]?.pair(with: peer)
        return pair.map { [.sendReliable(GroupMessage.ready($0).bytes, to: peer)] } ?? []
    }

    /// Tells a new member of the others.
    func introduce(
        _ others: [GroupMember], in number: SessionNumber, to peer: PeerID
    ) -> [GroupOutput] {
        let messages = all[number]?.introductions(of: others, to: peer) ?? []
        return messages.map { .sendReliable($0.bytes, to: peer) }
    }
}
