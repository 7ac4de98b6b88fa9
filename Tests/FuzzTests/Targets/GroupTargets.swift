import NearbyCertificates
import NearbyCore

@testable import NearbyGroups

extension FuzzTarget {
    static let groups: [FuzzTarget] = [
        FuzzTarget("group-message") { bytes in
            guard let message = try? GroupMessage(parsing: bytes) else { return }
            let again = try? GroupMessage(parsing: message.bytes)
            precondition(again == message, "a message is not what it was")
        },
        FuzzTarget("groups") { bytes in
            var reader = ByteReader(bytes)
            var machine = BesetGroups()
            while let step = try? reader.readUInt8(), let length = try? reader.readUInt8(),
                let body = try? reader.readBytes(min(Int(length), reader.remainingCount))
            {
                machine.take(step, Array(body))
            }
            machine.end()
        },
        FuzzTarget("certificates") { bytes in
            var reader = ByteReader(bytes)
            guard let count = try? reader.readUInt8() else { return }
            var chain: [[UInt8]] = []
            for _ in 0..<count & 7 {
                guard let certificate = try? reader.readCountedBytes(limit: 16_384) else { break }
                chain.append(Array(certificate))
            }
            let rest = Array(reader.readRemaining())
            precondition(
                !CertificateCheck.isTrusted(chain, anchors: []), "trusted without an anchor")
            _ = CertificateCheck.isTrusted(chain, anchors: chain)
            for certificate in chain {
                _ = CertificateCheck().isValid(rest, of: bytes, by: certificate)
            }
            guard let key = try? CertifiedKey(pem: rest) else { return }
            let proof = key.sign(bytes)
            precondition(
                key.certificates.first.map {
                    CertificateCheck().isValid(proof, of: bytes, by: $0)
                } == true, "a signature of its own key does not hold")
        },
    ]
}

/// A machine with two sessions and four peers, who say what they like:
/// { step 1 | length 1 | body }…
private struct BesetGroups {
    private var machine = GroupMachine(
        own: PeerID(high: 9, low: 9), verifier: AnyProof(), seed: 1)
    private var now = Instant.zero + .seconds(1_000)
    private var connected: Set<[UInt64]> = []

    private static let numbers = [SessionNumber(value: 1), SessionNumber(value: 2)]

    init() {
        for number in Self.numbers {
            handle(
                .open(
                    number, SessionID(value: UInt64(number.value)),
                    SessionTerms(
                        preference: .optional, asksAboutCertificates: number.value == 2)))
        }
    }

    /// The step's lower bits say what happens, its upper ones with which peer and session.
    mutating func take(_ step: UInt8, _ body: [UInt8]) {
        let peer = PeerID(high: UInt64(step >> 4 & 3) + 1, low: 7)
        let number = Self.numbers[Int(step >> 6 & 1)]
        switch step & 15 {
        case 0..<6: handle(.received(body, from: peer, isReliable: step & 15 != 5))
        case 6: handle(.reachable(peer, isEncrypted: body.isEmpty))
        case 7: handle(.unreachable(peer))
        case 8 where body.count > 1:
            handle(.encryptionChanged(peer, isEncrypted: body.count.isMultiple(of: 2)))
        case 8: handle(.restarted(peer, isEncrypted: body.isEmpty))
        case 9:
            handle(.invite(peer, into: number, context: body, timeout: .seconds(body.count)))
        case 10: handle(.connect(peer, SessionID(value: 3), from: number))
        case 11: wait(seconds: Int64(body.first ?? 0))
        case 12: handle(.send(body, to: [peer], number, isReliable: body.count & 1 == 0))
        case 13: handle(body.isEmpty ? .cancel(peer, number) : .expel(peer, number))
        case 14: handle(.leave(number, renamed: SessionID(value: UInt64(body.first ?? 0) + 8)))
        default: handle(.decide(peer, number, isAccepted: body.isEmpty))
        }
    }

    mutating func end() {
        for number in Self.numbers { handle(.close(number)) }
        for number in Self.numbers {
            let members = machine.status.connected(in: number)
            precondition(members.isEmpty, "a closed session has members")
        }
        wait(seconds: 7_200)
        precondition(machine.nextDeadline == nil, "it has something to do without a session")
    }

    private mutating func wait(seconds: Int64) {
        let end = now + .seconds(seconds)
        var turns = 0
        while let next = machine.nextDeadline, next <= end {
            now = max(now, next)
            handle(.deadlineReached)
            if let next = machine.nextDeadline { precondition(next > now, "it never sleeps") }
            turns += 1
            precondition(turns < 10_000, "it has too much to do")
        }
        now = max(now, end)
    }

    private mutating func handle(_ input: GroupInput) {
        var inputs = [input]
        while let input = inputs.popLast() {
            for output in machine.handle(input, now: now) { inputs += answers(to: output) }
            for (name, count, limit) in machine.status.tableSizes {
                precondition(count <= limit, "\(count) \(name) of \(limit)")
            }
        }
    }

    private mutating func answers(to output: GroupOutput) -> [GroupInput] {
        switch output {
        case .sendReliable(let bytes, _), .sendUnreliable(let bytes, _):
            precondition((try? GroupMessage(parsing: bytes)) != nil, "nobody can read it")
        case .event(.invited(let id, _)):
            return [.answer(id, with: id.number & 1 == 0 ? Self.numbers.first : nil)]
        case .event(.state(let peer, let number, let state)):
            let key = [peer.high, UInt64(number.value)]
            if state == .connected {
                precondition(connected.insert(key).inserted, "connected twice")
            } else {
                connected.remove(key)
            }
        case .event, .dial, .drop: break
        }
        return []
    }
}

/// What a proof says is seen elsewhere.
private struct AnyProof: ProofVerifier {
    func isValid(_ proof: [UInt8], of bytes: [UInt8], by certificate: [UInt8]) -> Bool {
        proof.count & 1 == 0
    }
}
