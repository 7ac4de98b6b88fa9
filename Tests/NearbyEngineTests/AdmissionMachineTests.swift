import NearbyCore
import NearbySimulator
import NearbyWire
import Testing

@testable import NearbyEngine

struct AdmissionMachineTests {
    private let alice = PeerID(high: 1, low: 1)
    private let bob = PeerID(high: 2, low: 2)
    private let secret = [UInt8](repeating: 7, count: 32)

    private func machine(
        client: Bool, trust: Trust? = nil, preference: EncryptionPreference = .required,
        versions: ClosedRange<UInt8> = 1...1, certification: Certification? = nil,
        unixTime: Int64? = nil
    ) -> AdmissionMachine {
        AdmissionMachine(
            .init(
                own: client ? alice : bob, peer: client ? bob : alice, isClient: client,
                binding: Array(0..<32),
                standing: Standing(
                    client ? bob : alice, certification, under: trust?.membership ?? .open,
                    unixTime: unixTime)),
            terms: AdmissionTerms(
                trust: trust ?? .secret(keys: [secret]), versions: versions, preference: preference,
                role: client ? .agent : .collector, run: RunID(value: client ? 10 : 20),
                name: client ? "alice" : "bob", hasRoute: false, neighbourCount: 0),
            invitation: InviteFrame(timeout: .seconds(30), context: [1]),
            cryptography: SimulatedCryptography(peer: client ? alice : bob, seed: 1))
    }

    /// What the two say to each other until they are silent; the nth frame is lost where `loses`
    /// says so.
    private func converse(
        _ client: inout AdmissionMachine, _ server: inout AdmissionMachine,
        loses: (Int) -> Bool = { _ in false }
    ) throws -> (client: [AdmissionMachine.Output], server: [AdmissionMachine.Output]) {
        var now = Instant.zero
        var results: (client: [AdmissionMachine.Output], server: [AdmissionMachine.Output]) = (
            [], []
        )
        var frames: [(toServer: Bool, bytes: [UInt8])] = []
        var sent = 0
        func collect(_ outputs: [AdmissionMachine.Output], byClient: Bool) {
            for output in outputs {
                guard case .send(let bytes) = output else {
                    if byClient {
                        results.client.append(output)
                    } else {
                        results.server.append(output)
                    }
                    continue
                }
                sent += 1
                if !loses(sent) { frames.append((byClient, bytes)) }
            }
        }
        collect(server.handle(.start, now: now), byClient: false)
        collect(client.handle(.start, now: now), byClient: true)
        for _ in 0..<200 {
            if frames.isEmpty {
                guard
                    let next = [client.nextDeadline, server.nextDeadline].compactMap({ $0 }).min()
                else { break }
                now = next
                collect(client.handle(.deadlineReached, now: now), byClient: true)
                collect(server.handle(.deadlineReached, now: now), byClient: false)
                continue
            }
            let (toServer, bytes) = frames.removeFirst()
            let input = try input(bytes)
            let outputs =
                toServer ? server.handle(input, now: now) : client.handle(input, now: now)
            collect(outputs, byClient: !toServer)
            if outputs.contains(where: { if case .invited = $0 { true } else { false } }) {
                let yes = DecisionFrame(verdict: .accepted, retryAfter: .zero)
                collect(server.handle(.decide(yes), now: now), byClient: false)
            }
        }
        return results
    }

    private func input(_ bytes: [UInt8]) throws -> AdmissionMachine.Input {
        let body = bytes[1...]
        return switch FrameKind(rawValue: bytes[0]) {
        case .admit: .admit(try AdmitFrame(parsing: body))
        case .invite: .invite(try InviteFrame(parsing: body))
        default: .decision(try DecisionFrame(parsing: body))
        }
    }

    @Test func rightSecretsAdmitBothAndTheInvitationIsAccepted() throws {
        var client = machine(client: true)
        var server = machine(client: false)
        let results = try converse(&client, &server)
        guard case .admitted(let bob, isEncrypted: true) = results.client.first,
            case .admitted(let alice, isEncrypted: true) = results.server.first
        else {
            Issue.record("\(results)")
            return
        }
        #expect(bob.name == "bob" && alice.name == "alice" && bob.role == .collector)
        #expect(results.client.last == .accepted)
        #expect(results.server.last == .accepted)
        #expect(client.nextDeadline == nil && server.nextDeadline == nil)
    }

    @Test(arguments: 1...6)
    func theLossOfAnyOneFrameIsMended(_ lost: Int) throws {
        var client = machine(client: true)
        var server = machine(client: false)
        let results = try converse(&client, &server, loses: { $0 == lost })
        #expect(results.client.last == .accepted)
        #expect(results.server.last == .accepted)
    }

    /// The server has restarted, or has made room for others in our place.
    @Test func aDecisionThatNeverComesIsNotWaitedForLong() throws {
        var client = machine(client: true)
        var server = machine(client: false)
        _ = server.handle(.start, now: .zero)
        for case .send(let own) in client.handle(.start, now: .zero) {
            for case .send(let answer) in server.handle(try input(own), now: .zero) {
                _ = client.handle(try input(answer), now: .zero)
            }
        }
        var outputs: [AdmissionMachine.Output] = []
        while let next = client.nextDeadline, next <= Instant.zero + .seconds(4) {
            outputs += client.handle(.deadlineReached, now: next)
        }
        #expect(outputs.last == .refused(.invitationTimeout, tell: nil))
        #expect(outputs.count > 4)
    }

    @Test func aWrongSecretIsRefusedWithoutAnAnswerThatProvesAnything() throws {
        var client = machine(client: true, trust: .secret(keys: [[UInt8](repeating: 9, count: 32)]))
        var server = machine(client: false)
        let results = try converse(&client, &server)
        #expect(results.server == [.refused(.admissionSecret, tell: .notAdmitted)])
        #expect(!results.client.contains(.accepted))
    }

    @Test func anOlderSecretIsAcceptedBesideTheFirst() throws {
        let newer = [UInt8](repeating: 8, count: 32)
        var client = machine(client: true, trust: .secret(keys: [secret]))
        var server = machine(client: false, trust: .secret(keys: [newer, secret]))
        #expect(try converse(&client, &server).client.last == .accepted)
    }

    @Test func aReflectedProofIsRefused() throws {
        var client = machine(client: true)
        _ = machine(client: false)
        guard case .send(let own) = client.handle(.start, now: .zero).first else { return }
        let outputs = client.handle(try input(own), now: .zero)
        #expect(outputs == [.refused(.admissionSecret, tell: nil)])
    }

    @Test func preferencesThatRefuseEachOtherEndTheAttempt() throws {
        var client = machine(client: true, preference: .none)
        var server = machine(client: false, preference: .required)
        let results = try converse(&client, &server)
        #expect(results.server == [.refused(.admissionPreference, tell: .preference)])
    }

    @Test func optionalWithNoneIsReadable() throws {
        var client = machine(client: true, preference: .none)
        var server = machine(client: false, preference: .optional)
        let results = try converse(&client, &server)
        guard case .admitted(_, isEncrypted: false) = results.client.first else {
            Issue.record("\(results.client)")
            return
        }
    }

    @Test func noCommonVersionEndsTheAttempt() throws {
        var client = machine(client: true, versions: 2...3)
        var server = machine(client: false)
        #expect(
            try converse(&client, &server).server == [.refused(.admissionVersion, tell: .version)])
    }

    // MARK: By key

    @Test func whoIsListedIsAdmittedWithAndWithoutASecret() throws {
        for keys in [[], [secret]] {
            let trust = Trust(keys: keys, membership: .listed([alice, bob]))
            var client = machine(client: true, trust: trust)
            var server = machine(client: false, trust: trust)
            let results = try converse(&client, &server)
            #expect(results.client.last == .accepted && results.server.last == .accepted)
        }
    }

    @Test func aListedOneWithoutTheSecretIsRefused() throws {
        let listed = Membership.listed([alice, bob])
        var client = machine(client: true, trust: Trust(keys: [], membership: listed))
        var server = machine(client: false, trust: Trust(keys: [secret], membership: listed))
        let results = try converse(&client, &server)
        #expect(results.server == [.refused(.admissionSecret, tell: .notAdmitted)])
    }

    @Test func theServerTellsWhoIsNotListed() throws {
        let trust = Trust(keys: [secret], membership: .listed([bob]))
        var client = machine(client: true)
        var server = machine(client: false, trust: trust)
        let results = try converse(&client, &server)
        #expect(results.server == [.refused(.admissionNotListed, tell: .notListed)])
        #expect(!results.client.contains(.accepted))
    }

    @Test func theClientSaysNothingOfItselfToWhomItDoesNotList() {
        let trust = Trust(keys: [secret], membership: .listed([alice]))
        var client = machine(client: true, trust: trust)
        #expect(
            client.handle(.start, now: .zero) == [.refused(.admissionNotListed, tell: .notListed)])
        #expect(client.nextDeadline == nil)
    }

    private let collector = certification([.collector], 100, 200)
    private let member = certification([], 100, 200)

    @Test func aCollectorNeedsACertificateThatSaysSo() throws {
        let trust = Trust(keys: [], membership: .certified)
        for (certification, reason) in [
            (collector, nil), (member, .admissionRole), (nil, .admissionCertificate),
        ] as [(Certification?, DropReason?)] {
            var client = machine(client: true, trust: trust, certification: certification)
            var server = machine(client: false, trust: trust, certification: member)
            let results = try converse(&client, &server)
            #expect(results.client.contains(.accepted) == (reason == nil))
            let refusals = results.client.compactMap { output in
                if case .refused(let reason, _) = output { reason } else { nil }
            }
            #expect(refusals.first == reason)
        }
    }

    @Test func datesCountOnlyWhereTheTimeIsKnown() {
        for (time, reason) in [
            (nil, nil), (100, nil), (200, nil), (99, .certificateExpired),
            (201, .certificateExpired),
        ] as [(Int64?, DropReason?)] {
            let standing = Standing(bob, collector, under: .certified, unixTime: time)
            #expect(standing.refusal == reason, "\(time ?? 0)")
            #expect(standing.isUndated == (time == nil))
        }
        // Where certificates do not count, neither do their dates.
        let standing = Standing(bob, nil, under: .open, unixTime: 5_000)
        #expect(standing.refusal == nil && !standing.isUndated)
    }

    @Test func rolesAreReadFromURIs() {
        var both = certification([], 0, 1)
        for uri in ["rivulet:role:collector", "rivulet:role:king", "https://example.org", ""] {
            both.add(uri: uri)
        }
        #expect(Role.allCases.filter(both.names) == [.collector])
        #expect(both.permits(.viewer) && both.permits(.relay))
        #expect(!member.permits(.viewer) && !member.permits(.collector) && member.permits(.agent))
        let viewer = certification([.viewer], 0, 1)
        #expect(viewer.permits(.viewer) && !viewer.permits(.collector))
    }

    @Test func aSilentOtherSideIsGivenUp() throws {
        var client = machine(client: true)
        var server = machine(client: false)
        let results = try converse(&client, &server, loses: { _ in true })
        #expect(results.client == [.refused(.admissionTimeout, tell: nil)])
        #expect(results.server == [.refused(.admissionTimeout, tell: nil)])
    }
}
