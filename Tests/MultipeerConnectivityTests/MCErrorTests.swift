import Foundation
import Testing

@testable import MultipeerConnectivity

struct MCErrorTests {
    @Test func codesHaveApplesNumbers() {
        let codes: [MCError.Code] = [
            .unknown, .notConnected, .invalidParameter, .unsupported, .timedOut, .cancelled,
            .unavailable,
        ]
        #expect(codes.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6])
        #expect(MCErrorDomain == "MCErrorDomain")
        #expect(MCError.errorDomain == MCErrorDomain)
    }

    @Test func bridgesToNSError() {
        let error: any Error = MCError(.timedOut, "No answer came within 30 s.")
        let bridged = error as NSError
        #expect(bridged.domain == MCErrorDomain)
        #expect(bridged.code == 4)
        #expect(bridged.localizedDescription == "No answer came within 30 s.")
        #expect(error.localizedDescription == "No answer came within 30 s.")
        #expect((error as? MCError)?.code == .timedOut)
        #expect("\(error)" == "Error Domain=MCErrorDomain Code=4 \"No answer came within 30 s.\"")
    }

    @Test func isCaughtByCode() {
        func caught(_ error: any Error) -> String {
            do {
                throw error
            } catch MCError.notConnected {
                return "not connected"
            } catch let error as MCError where error.code == .unavailable {
                return "unavailable"
            } catch {
                return "other"
            }
        }
        #expect(caught(MCError(.notConnected)) == "not connected")
        #expect(caught(MCError(.unavailable)) == "unavailable")
        #expect(caught(MCError(.unknown)) == "other")
        #expect(caught(CancellationError()) == "other")
    }

    // Linux's compiler holds `catch let error as NSError` for a pattern that always fits, so that
    // an error of another type ends the program.
    @Test func isCaughtAsNSError() {
        do {
            throw MCError(.unavailable, "The queue is full.")
        } catch let error as NSError {
            #expect(error.domain == MCErrorDomain)
            #expect(error.code == MCError.unavailable.rawValue)
            #expect(error.localizedDescription == "The queue is full.")
        }
    }

    @Test func codeIsACodeWhereOneIsExpectedAndANumberWhereANumberIs() {
        let error = MCError(.cancelled)
        switch error.code {
        case .cancelled: break
        default: Issue.record("\(error)")
        }
        #expect(error.code == .cancelled)
        #expect(error.errorCode == 5)
        let number: Int = error.code
        #expect(number == 5)
    }

    @Test func errorsFromBelowKeepCodeAndSentence() {
        #expect(MCError(describing: CancellationError()).code == .cancelled)
        #expect(MCError(describing: MCError(.unsupported)).code == .unsupported)
        #expect(MCError(describing: CocoaError(.fileNoSuchFile)).code == .unknown)
    }

    @Test func enumerationsHaveApplesNumbers() {
        #expect(MCSessionState.notConnected.rawValue == 0)
        #expect(MCSessionState.connecting.rawValue == 1)
        #expect(MCSessionState.connected.rawValue == 2)
        #expect(MCSessionSendDataMode.reliable.rawValue == 0)
        #expect(MCSessionSendDataMode.unreliable.rawValue == 1)
        #expect(MCEncryptionPreference.optional.rawValue == 0)
        #expect(MCEncryptionPreference.required.rawValue == 1)
        #expect(MCEncryptionPreference.none.rawValue == 2)
        #expect(kMCSessionMinimumNumberOfPeers == 2)
        #expect(kMCSessionMaximumNumberOfPeers == 8)
    }

    @Test func timeoutsThatAreNotPositiveAreHalfAMinute() {
        #expect(Duration.invitation(0) == .seconds(30))
        #expect(Duration.invitation(-1) == .seconds(30))
        #expect(Duration.invitation(.nan) == .seconds(30))
        #expect(Duration.invitation(0.5) == .milliseconds(500))
        #expect(Duration.invitation(.infinity) == .seconds(86_400))
    }

    @Test func answersOnce() {
        let answers = Guarded<[Bool]>([])
        let answer = PendingAnswer(isTrueWithoutAnswer: false) { isTrue in
            answers.with { $0.append(isTrue) }
        }
        answer.give(true)
        answer.give(false)
        #expect(answers.with { $0 } == [true])
    }

    @Test func questionThatNobodyHoldsIsAnsweredNo() {
        let answers = Guarded<[Bool]>([])
        var answer: PendingAnswer? = PendingAnswer(isTrueWithoutAnswer: false) { isTrue in
            answers.with { $0.append(isTrue) }
        }
        #expect(answer != nil)
        answer = nil
        #expect(answers.with { $0 } == [false])
    }
}
