import Configuration
import Glibc
import NearbyLinux
import Testing

@testable import NodeShell

/// What errors come to, in the words of sysexits.h.
struct ExitStatusTests {
    @Test(arguments: [
        (ENOENT, NodeShell.ExitStatus.noInput), (EACCES, .notPermitted), (ENOSPC, .cannotCreate),
        (EROFS, .cannotCreate), (EADDRINUSE, .unavailable), (EAGAIN, .tryAgain),
        (EIO, .inputOutput), (EFBIG, .data),
    ])
    func systemCallsHaveAStatus(_ code: Int32, _ status: NodeShell.ExitStatus) {
        #expect(NodeShell.ExitStatus(code: code) == status)
        #expect(NodeShell.ExitStatus(SystemError(call: "x", code: code)) == status)
        #expect(StartError(SystemError(call: "x", code: code)).status == status)
    }

    @Test func anAgentThatDoesNotRunIsUnavailable() {
        #expect(NodeShell.ExitStatus(ControlError.noAgent(path: "/x")) == .unavailable)
        #expect(NodeShell.ExitStatus(ControlError.notPermitted(path: "/x")) == .notPermitted)
        #expect(NodeShell.ExitStatus(TransportError.portInUse(1, call: "bind")) == .unavailable)
    }

    @Test func aFileThatIsMissingIsToldFromOneThatIsWrong() {
        guard case .bad(let missing) = Settings.load("/no/such"),
            case .bad(let wrong) = Settings.decode(Array("a: b".utf8), file: "f")
        else {
            Issue.record("taken")
            return
        }
        #expect(NodeShell.ExitStatus(missing) == .noInput)
        #expect(NodeShell.ExitStatus(wrong) == .configuration)
        #expect(agentMain(["--config", "/no/such"]) == 66)
        #expect(agentMain(["--health", "--config", "/no/such"]) == 66)
        #expect(agentMain(["--nonsense"]) == 64)
    }
}
