import NearbyCore
import NearbyWire

/// What a node says of itself in its first frame.
struct AdmissionTerms: Sendable {
    var trust: Trust
    var versions: ClosedRange<UInt8>
    var preference: EncryptionPreference
    var role: Role
    var run: RunID
    var name: String
    var hasRoute: Bool
    var seeksShortcut = false
    var neighbourCount: UInt8
    var software = ""
}

/// Admission and invitation inside a fresh channel: the client proves itself, the server answers
/// only to a right proof, the client invites, the server decides. Frames are repeated until
/// answered.
struct AdmissionMachine {
    enum Input {
        case start
        case admit(AdmitFrame)
        case invite(InviteFrame)
        case decision(DecisionFrame)
        /// The server's answer to `invited`.
        case decide(DecisionFrame)
        case deadlineReached
    }

    enum Output: Equatable {
        case send([UInt8])
        /// The other side proved itself; frames are encrypted from now on as both agreed.
        case admitted(AdmitFrame, isEncrypted: Bool)
        case invited(InviteFrame)
        case accepted
        case declined(DecisionFrame)
        /// The attempt is over. The reason to tell the other side, if it should know.
        case refused(DropReason, tell: CloseFrame.Reason?)
    }

    struct Parties {
        let own: PeerID
        let peer: PeerID
        let isClient: Bool
        /// The exporter's bytes that proofs are bound to.
        let binding: [UInt8]
        let standing: Standing
    }

    private enum Stage: Equatable {
        case idle
        case waitingForAdmit
        case waitingForInvite
        case waitingForVerdict
        case waitingForDecision
        case done(DecisionFrame.Verdict)
    }

    private let parties: Parties
    private let terms: AdmissionTerms
    private let invitation: InviteFrame
    private let cryptography: any Cryptography
    private var stage = Stage.idle
    private var ownAdmit: [UInt8] = []
    private var repeated: [UInt8] = []
    private var repeatAt: Instant?
    private var interval = Limits.admissionRepeat
    private var timeoutAt = Instant.distantFuture

    init(
        _ parties: Parties, terms: AdmissionTerms, invitation: InviteFrame,
        cryptography: any Cryptography
    ) {
        self.parties = parties
        self.terms = terms
        self.invitation = invitation
        self.cryptography = cryptography
    }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .start: start(now)
        case .admit(let frame): admit(frame, now)
        case .invite(let frame): invite(frame, now)
        case .decision(let frame): decision(frame)
        case .decide(let frame): decide(frame)
        case .deadlineReached: deadlineReached(now)
        }
    }

    var nextDeadline: Instant? {
        switch stage {
        case .idle, .done: nil
        default: min(repeatAt ?? .distantFuture, timeoutAt)
        }
    }

    private mutating func start(_ now: Instant) -> [Output] {
        stage = .waitingForAdmit
        timeoutAt =
            now + (parties.isClient ? Limits.admissionSilence : Limits.admissionTimeout)
        guard parties.isClient else { return [] }
        // Whom we would not let in hears nothing of us.
        if let refusal = parties.standing.refusal { return refuse(refusal, tell: refusal.told) }
        ownAdmit = admitFrame(key: terms.trust.keys.first)
        return repeatedly(ownAdmit, now)
    }

    private mutating func admit(_ frame: AdmitFrame, _ now: Instant) -> [Output] {
        guard stage == .waitingForAdmit else {
            // The client did not hear our own; say it again.
            return parties.isClient || ownAdmit.isEmpty ? [] : [.send(ownAdmit)]
        }
        if let refusal = parties.standing.refusal(of: frame.role) {
            return refuse(refusal, tell: refusal.told)
        }
        guard let key = keyProved(by: frame) else {
            return refuse(.admissionSecret, tell: parties.isClient ? nil : .notAdmitted)
        }
        guard WireVersion.agreed(terms.versions, frame.versions) != nil else {
            return refuse(.admissionVersion, tell: .version)
        }
        guard let encrypted = EncryptionPreference.agreed(terms.preference, frame.preference) else {
            return refuse(.admissionPreference, tell: .preference)
        }
        if parties.isClient {
            stage = .waitingForDecision
            timeoutAt = now + min(invitation.timeout, Limits.admissionSilence)
            return [.admitted(frame, isEncrypted: encrypted)] + repeatedly(invitation.bytes, now)
        }
        stage = .waitingForInvite
        ownAdmit = admitFrame(key: key)
        return [.admitted(frame, isEncrypted: encrypted), .send(ownAdmit)]
    }

    private mutating func invite(_ frame: InviteFrame, _ now: Instant) -> [Output] {
        switch stage {
        case .waitingForInvite:
            stage = .waitingForVerdict
            timeoutAt = now + frame.timeout
            return [.invited(frame)]
        case .done where !parties.isClient && !repeated.isEmpty:
            return [.send(repeated)]
        default:
            return []
        }
    }

    private mutating func decide(_ frame: DecisionFrame) -> [Output] {
        guard stage == .waitingForVerdict else { return [] }
        stage = .done(frame.verdict)
        repeated = frame.bytes
        return [.send(repeated), frame.verdict == .accepted ? .accepted : .declined(frame)]
    }

    private mutating func decision(_ frame: DecisionFrame) -> [Output] {
        guard stage == .waitingForDecision else { return [] }
        stage = .done(frame.verdict)
        return [frame.verdict == .accepted ? .accepted : .declined(frame)]
    }

    private mutating func deadlineReached(_ now: Instant) -> [Output] {
        guard let deadline = nextDeadline, now >= deadline else { return [] }
        if now >= timeoutAt {
            let isInvited = stage == .waitingForDecision || stage == .waitingForVerdict
            return refuse(isInvited ? .invitationTimeout : .admissionTimeout, tell: nil)
        }
        interval = min(interval * 2, Limits.admissionRepeatMax)
        repeatAt = now + interval
        return [.send(repeated)]
    }

    private mutating func repeatedly(_ frame: [UInt8], _ now: Instant) -> [Output] {
        repeated = frame
        interval = Limits.admissionRepeat
        repeatAt = now + interval
        return [.send(frame)]
    }

    private mutating func refuse(_ reason: DropReason, tell: CloseFrame.Reason?) -> [Output] {
        stage = .done(.declined)
        return [.refused(reason, tell: tell)]
    }

    // MARK: Proofs

    private func admitFrame(key: [UInt8]?) -> [UInt8] {
        AdmitFrame(
            versions: terms.versions, role: terms.role, preference: terms.preference,
            hasRoute: terms.hasRoute, seeksShortcut: terms.seeksShortcut,
            neighbourCount: terms.neighbourCount, run: terms.run,
            proof: proof(key: key, byClient: parties.isClient), name: terms.name,
            software: terms.software
        ).bytes
    }

    /// HMAC(key, role ‖ exporter ‖ client ‖ server); zeros without a secret. The role byte makes a
    /// reflected proof worthless.
    private func proof(key: [UInt8]?, byClient: Bool) -> [UInt8] {
        guard let key else { return [UInt8](repeating: 0, count: AdmitFrame.proofByteCount) }
        let client = parties.isClient ? parties.own : parties.peer
        let server = parties.isClient ? parties.peer : parties.own
        let message = [byClient ? 1 : 2] + parties.binding + client.bytes + server.bytes
        return cryptography.hmac(key: key, message)
    }

    /// The key under which the other side's proof is right: the outer nil means none.
    private func keyProved(by frame: AdmitFrame) -> [UInt8]?? {
        guard !terms.trust.keys.isEmpty else { return .some(nil) }
        for key in terms.trust.keys {
            let expected = proof(key: key, byClient: !parties.isClient)
            if cryptography.constantTimeEquals(expected, frame.proof) { return .some(key) }
        }
        return nil
    }
}

extension Limits {
    /// The first repetition of an unanswered admission frame; doubles to the maximum.
    static let admissionRepeat = Duration.milliseconds(100)
    static let admissionRepeatMax = Duration.seconds(1)
    /// From the end of the handshake to the other side's proof.
    public static let admissionTimeout = Duration.seconds(10)
    /// The same where we are the client and repeat ours, and from there to the decision: who is
    /// silent for so long has perhaps made room for others in our place, or has restarted, and only
    /// another handshake tells. It follows after a second.
    static let admissionSilence = Duration.seconds(4)
}
