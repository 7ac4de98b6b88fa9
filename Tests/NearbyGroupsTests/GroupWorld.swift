import NearbyCore
import NearbyWire
import Testing

@testable import NearbyGroups

/// Processes with sessions, and nodes between them that carry messages in order while two peers
/// reach each other. The number of a peer is its index.
final class GroupWorld {
    enum Happening {
        case arrives([UInt8], from: Int, at: Int, link: Int)
        case deadline(Int)
        case diagnostics(Int, that: Int, isReachable: Bool)
    }

    struct Key: Hashable {
        var at: Int
        var peer: Int
        var session: SessionNumber
    }

    static let session = SessionNumber(value: 1)

    private(set) var now = Instant.zero
    private(set) var machines: [GroupMachine] = []
    private(set) var states: [Key: GroupMemberState] = [:]
    private(set) var events: [[GroupMachine.Event]] = []
    private(set) var drops: [DropReason: Int] = [:]
    private(set) var messageCount = 0
    /// What members said of reliable messages for them.
    private(set) var held: [Key: Bool] = [:]
    private(set) var called: Set<Set<Int>> = []
    /// What a program does with an invitation; nil: nothing yet.
    var answers: (Int, InvitationID) -> SessionNumber?? = { _, _ in .some(GroupWorld.session) }
    var acceptsCertificates: (Int, [[UInt8]]) -> Bool? = { _, _ in true }
    /// Pairs that cannot reach each other.
    private var cuts: Set<Set<Int>> = []
    /// Grows when a pair is cut: what was on its way then does not arrive.
    private var links: [Set<Int>: Int] = [:]
    private var connected: Set<Set<Int>> = []
    private var lastArrival: [[Int]: Instant] = [:]
    private var queue: [(time: Instant, order: Int, what: Happening)] = []
    private var order = 0
    /// When each is woken up next.
    private var planned: [Int: Instant] = [:]
    private var random: SeededGenerator

    init(_ count: Int, seed: UInt64 = 1, terms: (Int) -> SessionTerms = { _ in SessionTerms() }) {
        random = SeededGenerator(seed: seed)
        for index in 0..<count {
            machines.append(
                GroupMachine(own: Self.peer(index), verifier: Verifier(), seed: random.next()))
            events.append([])
            open(Self.session, at: index, terms(index))
        }
    }

    static func peer(_ index: Int) -> PeerID { PeerID(high: UInt64(index) + 1, low: 7) }

    private func index(_ peer: PeerID) -> Int { Int(peer.high) - 1 }

    func open(_ session: SessionNumber, at index: Int, _ terms: SessionTerms = SessionTerms()) {
        give(.open(session, SessionID(value: random.next()), terms), at: index)
    }

    func invite(
        _ peer: Int, by index: Int, _ session: SessionNumber = session,
        timeout: Duration = .seconds(20)
    ) {
        let invite = GroupMachine.Input.invite(
            Self.peer(peer), into: session, context: [1, 2], timeout: timeout)
        give(invite, at: index)
    }

    func leave(_ index: Int) {
        give(.leave(Self.session, renamed: SessionID(value: random.next())), at: index)
    }

    /// The process is gone and another in its place, with the same identity.
    func restart(_ index: Int, isNoticed: Bool = true) {
        for other in machines.indices where other != index && isNoticed {
            disconnect([index, other])
        }
        machines[index] = GroupMachine(
            own: Self.peer(index), verifier: Verifier(), seed: random.next())
        for key in states.keys where key.at == index { states[key] = .notConnected }
        open(Self.session, at: index)
    }

    func state(of peer: Int, at index: Int, _ session: SessionNumber = session)
        -> GroupMemberState
    {
        states[Key(at: index, peer: peer, session: session)] ?? .notConnected
    }

    /// Whether all of these see exactly each other.
    func areAGroup(_ members: [Int]) -> Bool {
        members.allSatisfy { index in
            machines[index].status.connected(in: Self.session)
                == members.filter { $0 != index }.map(Self.peer)
        }
    }

    // MARK: Reach

    func cut(_ left: Int, _ right: Int) {
        cuts.insert([left, right])
        disconnect([left, right])
    }

    func heal(_ left: Int, _ right: Int) {
        cuts.remove([left, right])
        dial(left, right)
    }

    private func disconnect(_ pair: Set<Int>) {
        links[pair, default: 0] += 1
        guard connected.remove(pair) != nil else { return }
        let ends = pair.sorted()
        diagnostic(ends[0], ends[1], false)
        diagnostic(ends[1], ends[0], false)
    }

    private func dial(_ left: Int, _ right: Int) {
        called.insert([left, right])
        guard left != right, machines.indices.contains(right), !cuts.contains([left, right]),
            connected.insert([left, right]).inserted
        else { return }
        links[[left, right], default: 0] += 1
        diagnostic(left, right, true)
        diagnostic(right, left, true)
    }

    /// Each side at its own time, but in order.
    private func diagnostic(_ index: Int, _ peer: Int, _ isReachable: Bool) {
        let time = inOrder([index, peer, 0], after: .milliseconds(1)..<Duration.seconds(2))
        add(.diagnostics(index, that: peer, isReachable: isReachable), at: time)
    }

    private func inOrder(_ key: [Int], after delay: Range<Duration>) -> Instant {
        let time = max(
            now + random.duration(in: delay), (lastArrival[key] ?? .zero) + .nanoseconds(1))
        lastArrival[key] = time
        return time
    }

    // MARK: Running

    func give(_ input: GroupMachine.Input, at index: Int) {
        for output in machines[index].handle(input, now: now) { carryOut(output, of: index) }
        if let deadline = machines[index].nextDeadline {
            let time = max(deadline, now + .nanoseconds(1))
            if time < planned[index] ?? .distantFuture {
                planned[index] = time
                add(.deadline(index), at: time)
            }
        }
        for (name, count, limit) in machines[index].status.tableSizes where count > limit {
            Issue.record("\(count) \(name) of \(limit)")
        }
    }

    func run(for time: Duration) {
        let end = now + time
        while let next = queue.first, next.time <= end {
            queue.removeFirst()
            now = next.time
            happen(next.what)
        }
        now = end
    }

    private func happen(_ what: Happening) {
        switch what {
        case .arrives(let bytes, let sender, let index, let link):
            guard links[[sender, index]] == link else { return }
            give(.received(bytes, from: Self.peer(sender), isReliable: true), at: index)
        case .deadline(let index):
            planned[index] = nil
            give(.deadlineReached, at: index)
        case .diagnostics(let index, let peer, let isReachable):
            let input: GroupMachine.Input =
                isReachable ? .reachable(Self.peer(peer)) : .unreachable(Self.peer(peer))
            give(input, at: index)
        }
    }

    private func add(_ what: Happening, at time: Instant) {
        order += 1
        let place = queue.firstIndex { ($0.time, $0.order) > (time, order) } ?? queue.endIndex
        queue.insert((time, order, what), at: place)
    }

    private func carryOut(_ output: GroupMachine.Output, of index: Int) {
        switch output {
        case .sendReliable(let bytes, let peer):
            let receiver = self.index(peer)
            guard connected.contains([index, receiver]) else { return }
            let time = inOrder([index, receiver, 1], after: .zero..<Duration.milliseconds(300))
            let link = links[[index, receiver]] ?? 0
            add(.arrives(bytes, from: index, at: receiver, link: link), at: time)
        case .sendUnreliable: break
        case .dial(let peer): dial(index, self.index(peer))
        case .event(let event):
            events[index].append(event)
            take(event, at: index)
        case .drop(let reason): drops[reason, default: 0] += 1
        }
    }

    private func take(_ event: GroupMachine.Event, at index: Int) {
        switch event {
        case .state(let peer, let session, let state):
            let key = Key(at: index, peer: self.index(peer), session: session)
            // What programs rely on: connecting comes before connected.
            if state == .connected, states[key] != .connecting {
                Issue.record("\(key) is connected and was \(String(describing: states[key]))")
            }
            states[key] = state
        case .invited(let invitation, _):
            if let answer = answers(index, invitation) {
                give(.answer(invitation, with: answer), at: index)
            }
        case .certificates(let chain, let peer, let session):
            if let word = acceptsCertificates(index, chain) {
                give(.decide(peer, session, isAccepted: word), at: index)
            }
        case .message: messageCount += 1
        case .held(let peer, let session, let isHeld):
            held[Key(at: index, peer: self.index(peer), session: session)] = isHeld
        case .withdrawn, .declined: break
        }
    }
}

/// A signature is the certificate and what is signed, one after the other.
struct Identity: SessionIdentity {
    var certificates: [[UInt8]]

    func sign(_ bytes: [UInt8]) -> [UInt8] { (certificates.first ?? []) + bytes }
}

struct Verifier: ProofVerifier {
    func isValid(_ proof: [UInt8], of bytes: [UInt8], by certificate: [UInt8]) -> Bool {
        proof == certificate + bytes
    }
}
