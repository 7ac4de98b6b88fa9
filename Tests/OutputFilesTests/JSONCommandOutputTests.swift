import Glibc
import Outputs
import Testing

@testable import OutputFiles

struct JSONCommandOutputTests {
    private let folder = Folder()

    private func output(
        _ script: String, acknowledges: Bool = false, limit: Duration = .seconds(20)
    ) -> JSONCommandOutput {
        JSONCommandOutput(
            ["/bin/sh", "-c", script], acknowledges: acknowledges, timeLimit: limit)
    }

    private func fault(_ output: JSONCommandOutput) -> String? {
        do throws(OutputFault) {
            _ = try output.deliver(batch(1...1))
            return nil
        } catch {
            return error.description
        }
    }

    @Test func aProgramGetsEachLineAndIsLeftTimeToEnd() throws {
        let output = output("exec cat >\(folder.path("a"))")
        _ = try output.deliver(batch(1...1_000))
        _ = try output.deliver(batch(1_001...1_002))
        output.close()
        #expect(folder.lineCount("a") == 1_002)
    }

    @Test func aBatchIsDoneWhenTheProgramSaysSo() throws {
        let script = "while read -r line; do [ -n \"$line\" ] || echo done; done"
        let output = output(script, acknowledges: true)
        for _ in 0..<3 { _ = try output.deliver(batch(1...5)) }
        output.close()
    }

    @Test func howItEndedIsTold() {
        let program = output("read -r line; exit 3", acknowledges: true)
        let told = fault(program)
        #expect(
            told == "/bin/sh ended with exit status 3"
                || told == "/bin/sh: it ended without an answer", "\(told ?? "nothing")")
        let missing = JSONCommandOutput(
            [folder.path("program")], acknowledges: false, timeLimit: .seconds(1))
        #expect(
            fault(missing)
                == "\(folder.path("program")) cannot be started: No such file or directory")
    }

    @Test func whoDoesNotAnswerIsGivenUp() {
        let silent = output("exec sleep 100", acknowledges: true, limit: .milliseconds(1_100))
        #expect(fault(silent)?.contains("no line in answer to a batch within 1 s") == true)
    }
}
