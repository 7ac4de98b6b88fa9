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

    @Test func errorsFromBelowKeepCodeAndSentence() {
        #expect(MCError(describing: CancellationError()).code == .cancelled)
        #expect(MCError(describing: MCError(.unsupported)).code == .unsupported)
        #expect(MCError(describing: CocoaError(.fileNoSuchFile)).code == .unknown)
        #expect(MCError(_nsError: NSError(domain: MCErrorDomain, code: 99)).code == .unknown)
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
        let answer = Answer(isTrueWithoutAnswer: false) { isTrue in
            answers.with { $0.append(isTrue) }
        }
        answer.give(true)
        answer.give(false)
        #expect(answers.with { $0 } == [true])
    }

    @Test func questionThatNobodyHoldsIsAnsweredNo() {
        let answers = Guarded<[Bool]>([])
        var answer: Answer? = Answer(isTrueWithoutAnswer: false) { isTrue in
            answers.with { $0.append(isTrue) }
        }
        #expect(answer != nil)
        answer = nil
        #expect(answers.with { $0 } == [false])
    }
}
