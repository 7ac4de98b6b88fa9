import Glibc
import NearbyCore
import NearbyWire
import Synchronization
import Testing

@testable import Nearby

extension LoopbackTests {
    @Test func twoFindEachOtherConnectAndSpeak() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service, info: ["room": "kitchen"])
        defer { for program in [anna, bert] { program.stop() } }
        bert.acceptAll()
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, info) = try await anna.find("Bert")
        #expect(peer == bert.peer)
        #expect(info == ["room": "kitchen"])
        try await anna.browser.invite(peer, to: anna.session)
        #expect(anna.session.connectedPeers == [bert.peer])
        try await anna.session.send(Array("hello".utf8), to: [peer])
        #expect(try await bert.message() == "hello")
        try await bert.session.send(Array("hello too".utf8), to: [anna.peer], mode: .unreliable)
        #expect(try await anna.message() == "hello too")
    }

    @Test func whoDoesNotAdvertiseIsNotFound() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        defer { for program in [anna, bert] { program.stop() } }
        try anna.browser.start()
        try bert.browser.start()
        await #expect(throws: NearbyError.self) {
            try await within(.seconds(3)) { try await anna.find("Bert") }
        }
        try bert.advertiser.start()
        _ = try await anna.find("Bert")
        bert.advertiser.stop()
        let lost = try await within(.seconds(10)) {
            for await case .lost(let peer) in anna.browser.events { return peer }
            throw NearbyError(.timedOut, "not lost")
        }
        #expect(lost == bert.peer)
    }

    @Test func aDeclinedInvitationSaysSo() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        defer { for program in [anna, bert] { program.stop() } }
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, _) = try await anna.find("Bert")
        Task {
            for await invitation in bert.advertiser.invitations {
                #expect(invitation.peer == anna.peer)
                #expect(invitation.context == [1, 2, 3])
                invitation.decline()
            }
        }
        let error = await failure {
            try await anna.browser.invite(peer, to: anna.session, context: [1, 2, 3])
        }
        #expect(error?.code == .unavailable)
        #expect(error?.description.contains("declined") == true)
    }

    @Test func anInvitationThatNobodyAnswersTimesOutAndIsWithdrawn() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        defer { for program in [anna, bert] { program.stop() } }
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, _) = try await anna.find("Bert")
        let error = await failure {
            try await anna.browser.invite(peer, to: anna.session, timeout: .seconds(1))
        }
        #expect(error?.code == .timedOut)
        let invitation = try await within(.seconds(5)) {
            for await invitation in bert.advertiser.invitations { return invitation }
            throw NearbyError(.unknown, "none")
        }
        #expect(try await eventually { invitation.isWithdrawn })
        let late = await failure { try invitation.accept(with: bert.session) }
        #expect(late?.code == .timedOut)
    }

    @Test func aTaskThatIsCancelledInvitesNoLonger() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        defer { for program in [anna, bert] { program.stop() } }
        try bert.advertiser.start()
        try anna.browser.start()
        let (peer, _) = try await anna.find("Bert")
        let task = Task { await failure { try await anna.browser.invite(peer, to: anna.session) } }
        let invitation = try await within(.seconds(5)) {
            for await invitation in bert.advertiser.invitations { return invitation }
            throw NearbyError(.unknown, "none")
        }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(try await eventually { invitation.isWithdrawn })
    }

    @Test func whoLeavesIsToldAndTheSessionServesAgain() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        defer { for program in [anna, bert] { program.stop() } }
        try await anna.connect(with: bert)
        bert.session.disconnect()
        #expect(bert.session.connectedPeers == [])
        #expect(try await eventually { anna.session.connectedPeers == [] })
        let error = await failure { try await anna.session.send([1], to: [bert.peer]) }
        #expect(error?.code == .notConnected)
        try await anna.browser.invite(bert.peer, to: anna.session)
        #expect(anna.session.connectedPeers == [bert.peer])
    }

    #if compiler(>=6.2)
        /// In a process of its own: those of other suites come and go in this one.
        @Test func stoppingFreesEveryDescriptor() async {
            await #expect(processExitsWith: .success) {
                guard try await Self.freesEveryDescriptor() else { exit(1) }
            }
        }
    #else
        /// Descriptors of other suites come and go meanwhile: what leaks would never be free.
        @Test func stoppingFreesEveryDescriptor() async throws {
            for _ in 1...10 where try await Self.freesEveryDescriptor() { return }
            Issue.record("descriptors stay open")
        }
    #endif

    /// Whether two programs that met and stopped, twice, leave as many descriptors as there were.
    private static func freesEveryDescriptor() async throws -> Bool {
        let service = try Self.service()
        let isQuiet = try await eventually { !Background.shared.isRunning }
        guard isQuiet else { return false }
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        // What the first time opens for good, such as the scheduler's, is not ours.
        try await anna.connect(with: bert)
        for program in [anna, bert] { program.stop() }
        let hasStopped = try await eventually { !Background.shared.isRunning }
        guard hasStopped else { return false }
        let before = descriptorCount()
        for _ in 1...2 {
            try await anna.connect(with: bert)
            guard descriptorCount() > before else { return false }
            for program in [anna, bert] { program.stop() }
            let isFree = try await eventually { descriptorCount() == before }
            guard isFree else { return false }
        }
        return true
    }

    @Test func connectionDataAreEnough() async throws {
        _ = Self.isPrepared
        let anna = try Session(peer: Peer(displayName: "Anna"))
        let bert = try Session(peer: Peer(displayName: "Bert"))
        let data = try await anna.connectionData()
        try await bert.connect(to: anna.peer, with: data)
        #expect(bert.connectedPeers == [anna.peer])
        #expect(try await eventually { anna.connectedPeers == [bert.peer] })
        let error = await failure { try await bert.connect(to: bert.peer, with: data) }
        #expect(error?.code == .invalidParameter)
        for session in [anna, bert] { session.disconnect() }
    }

    /// Encrypted or not, all go together but none with required.
    @Test(
        arguments: NearbyWire.EncryptionPreference.allCases,
        NearbyWire.EncryptionPreference.allCases)
    func preferencesAgreeOrAreToldWhy(
        left: NearbyWire.EncryptionPreference, right: NearbyWire.EncryptionPreference
    ) async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service, encryption: left)
        let bert = try Program("Bert", service, encryption: right)
        defer { for program in [anna, bert] { program.stop() } }
        let error = await failure { try await anna.connect(with: bert) }
        if NearbyWire.EncryptionPreference.agreed(left, right) == nil {
            #expect(error?.code == .unavailable)
            #expect(error?.description.contains("encryption") == true)
        } else {
            #expect(error == nil)
            #expect(anna.session.connectedPeers == [bert.peer])
        }
    }

    /// The node of both went without encryption before.
    @Test func aSessionThatRequiresEncryptionDoesWithoutNoChannel() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service, encryption: .none)
        let bert = try Program("Bert", service, encryption: .none)
        defer { for program in [anna, bert] { program.stop() } }
        try await anna.connect(with: bert)
        let strict = try Session(peer: anna.peer, encryption: .required)
        let error = await failure {
            try await anna.browser.invite(bert.peer, to: strict, timeout: .seconds(5))
        }
        #expect(error?.description.contains("encryption") == true)
        #expect(anna.session.connectedPeers == [bert.peer])
    }

    /// The node of each is told of the second session when it has a channel already.
    @Test func sessionsOfOnePeerMayDifferInWhatTheyPrefer() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service, encryption: .none)
        let bert = try Program("Bert", service, encryption: .none)
        defer { for program in [anna, bert] { program.stop() } }
        try await anna.connect(with: bert)
        let strict = try Session(peer: anna.peer, encryption: .required)
        let other = try Program(as: bert, encryption: .required)
        other.acceptAll()
        try other.advertiser.start()
        try await anna.browser.invite(bert.peer, to: strict, timeout: .seconds(10))
        #expect(strict.connectedPeers == [bert.peer])
        #expect(try await eventually { other.session.connectedPeers == [anna.peer] })
        // Nobody left the first one.
        #expect(anna.session.connectedPeers == [bert.peer])
        try await anna.session.send([UInt8]("plain".utf8), to: [bert.peer])
        #expect(try await bert.message() == "plain")
        try await strict.send([UInt8]("secret".utf8), to: [bert.peer])
        #expect(try await other.message() == "secret")
        other.stop()
        strict.disconnect()
    }

    /// A program that refuses encryption in one session does not refuse it in another.
    @Test func aSessionThatRefusesEncryptionKeepsNoOtherFromIt() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service, encryption: .none)
        let bert = try Program("Bert", service, encryption: .required)
        defer { for program in [anna, bert] { program.stop() } }
        let error = await failure { try await anna.connect(with: bert) }
        #expect(error?.description.contains("encryption") == true)
        let strict = try Session(peer: anna.peer, encryption: .required)
        try await anna.browser.invite(bert.peer, to: strict, timeout: .seconds(10))
        #expect(strict.connectedPeers == [bert.peer])
        let again = await failure {
            try await anna.browser.invite(bert.peer, to: anna.session, timeout: .seconds(5))
        }
        #expect(again?.description.contains("encryption") == true)
        strict.disconnect()
    }

    @Test func certificatesAreJudgedByBoth() async throws {
        let service = try Self.service()
        let identity = try Nearby.Identity(pem: TestCertificates.chain)
        let anchors = [try Nearby.Identity(pem: TestCertificates.authority).certificates[0]]
        let anna = try Program(
            "Anna", service, identity: identity, certificateHandler: { chain, _ in chain == [] })
        let bert = try Program(
            "Bert", service,
            certificateHandler: { chain, peer in
                peer.displayName == "Anna" && Certificates.isTrusted(chain, anchors: anchors)
            })
        defer { for program in [anna, bert] { program.stop() } }
        try await anna.connect(with: bert)
        #expect(anna.session.connectedPeers == [bert.peer])
        let strict = try Session(peer: anna.peer, certificateHandler: { _, _ in false })
        let error = await failure { try await anna.browser.invite(bert.peer, to: strict) }
        #expect(error?.code == .unavailable)
        #expect(error?.description.contains("certificates") == true)
    }

    @Test func aLongMessageArrivesWhole() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        defer { for program in [anna, bert] { program.stop() } }
        try await anna.connect(with: bert)
        let message = (0..<(6 << 20)).map { UInt8(truncatingIfNeeded: $0 >> 9) }
        try await anna.session.send(message, to: [bert.peer])
        let received = try await bert.next { event -> [UInt8]? in
            guard case .message(let bytes, _, true) = event else { return nil }
            return bytes
        }
        #expect(received == message)
        let error = await failure {
            try await anna.session.send(
                [UInt8](repeating: 0, count: (7 << 20) + 1), to: [bert.peer])
        }
        #expect(error?.code == .invalidParameter)
    }

    @Test func manyReliableMessagesComeInOrder() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        defer { for program in [anna, bert] { program.stop() } }
        try await anna.connect(with: bert)
        let count = 400
        let sending = Task {
            for index in 0..<count {
                try await anna.session.send(
                    [UInt8](repeating: UInt8(index % 256), count: 50_000), to: [bert.peer])
            }
        }
        let received = try await within(.seconds(60)) {
            var received: [Int] = []
            for await case .message(let bytes, _, true) in bert.session.events {
                received.append(Int(bytes[0]))
                if received.count == count { break }
            }
            return received
        }
        #expect(received == (0..<count).map { $0 % 256 })
        try await sending.value
    }

    @Test func sendingAtOnceEndsWhereTooMuchWaits() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        defer { for program in [anna, bert] { program.stop() } }
        try await anna.connect(with: bert)
        let error = await failure {
            for _ in 0..<200 {
                try anna.session.sendNow(
                    [UInt8](repeating: 1, count: 1 << 19), to: [bert.peer], mode: .reliable)
            }
        }
        #expect(error?.code == .unavailable)
    }

    /// Nothing is lost, and less piles up than what would end the connection.
    @Test func aSlowReaderHoldsTheSenderBack() async throws {
        let service = try Self.service()
        let anna = try Program("Anna", service)
        let bert = try Program("Bert", service)
        defer { for program in [anna, bert] { program.stop() } }
        try await anna.connect(with: bert)
        let (session, peer) = (anna.session, bert.peer)
        let sent = Mutex(0)
        let sending = Task {
            for number in 0..<Self.manyMessages {
                try await session.send(Self.message(number), to: [peer])
                sent.withLock { $0 = number + 1 }
            }
        }
        // Bert's program takes nothing: after a while no message more leaves.
        var before = -1
        while sent.withLock({ $0 }) != before {
            before = sent.withLock { $0 }
            try await Task.sleep(for: .seconds(1))
        }
        #expect(before < Self.manyMessages / 2)
        #expect(throws: NearbyError.self) {
            try session.sendNow([1], to: [peer], mode: .reliable)
        }
        try session.sendNow([1], to: [peer], mode: .unreliable)
        for number in 0..<Self.manyMessages {
            let got = try await bert.next { event -> [UInt8]? in
                guard case .message(let bytes, _, true) = event else { return nil }
                return bytes
            }
            #expect(got == Self.message(number))
        }
        try await sending.value
        #expect(bert.session.connectedPeers == [anna.peer])
    }

    /// 24 MiB, more than twice what may be on its way.
    private static let manyMessages = 96

    private static func message(_ number: Int) -> [UInt8] {
        [UInt8(number % 251), UInt8(number / 251)] + [UInt8](repeating: 1, count: 256 << 10)
    }
}

func failure(_ body: () async throws -> Void) async -> NearbyError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? NearbyError
    }
}
