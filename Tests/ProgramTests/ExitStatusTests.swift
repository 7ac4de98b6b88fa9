import Configuration
import Glibc
import NearbyLinux
import Testing

@testable import Program

/// What errors come to, in the words of sysexits.h.
struct ExitStatusTests {
    @Test(arguments: [
        (ENOENT, Program.ExitStatus.noInput), (EACCES, .notPermitted), (ENOSPC, .cannotCreate),
        (EROFS, .cannotCreate), (EADDRINUSE, .unavailable), (EAGAIN, .tryAgain),
        (EIO, .inputOutput), (EFBIG, .data),
    ])
    func systemCallsHaveAStatus(_ code: Int32, _ status: Program.ExitStatus) {
        #expect(Program.ExitStatus(code: code) == status)
        #expect(Program.ExitStatus(SystemError(call: "x", code: code)) == status)
        #expect(StartError(SystemError(call: "x", code: code)).status == status)
    }

    @Test func anAgentThatDoesNotRunIsUnavailable() {
        #expect(Program.ExitStatus(ControlError.noAgent(path: "/x")) == .unavailable)
        #expect(Program.ExitStatus(ControlError.notPermitted(path: "/x")) == .notPermitted)
        #expect(Program.ExitStatus(TransportError.portInUse(1, call: "bind")) == .unavailable)
    }

    @Test func aFileThatIsMissingIsToldFromOneThatIsWrong() {
        guard case .bad(let missing) = Settings.load("/no/such"),
            case .bad(let wrong) = Settings.decode(Array("a: b".utf8), file: "f")
        else {
            Issue.record("taken")
            return
        }
        #expect(Program.ExitStatus(missing) == .noInput)
        #expect(Program.ExitStatus(wrong) == .configuration)
        #expect(agentMain(["--config", "/no/such"]) == 66)
        #expect(agentMain(["--nonsense"]) == 64)
    }
}
