import NearbyLinux
import Testing

@testable import NodeShell

@Suite struct AgentCommandTests {
    @Test func withoutArgumentsItRunsTheMachinesOwnConfiguration() throws {
        #expect(try AgentCommand([]) == .run(config: "/etc/rivulet/config.yaml", level: nil))
    }

    @Test func optionsAreTakenInBothForms() throws {
        #expect(
            try AgentCommand(["--config", "a.yaml", "-q"])
                == .run(config: "a.yaml", level: .warning))
        #expect(
            try AgentCommand(["--config=a=b.yaml", "--log-level", "error"])
                == .run(config: "a=b.yaml", level: .error))
        #expect(
            try AgentCommand(["--verbose"])
                == .run(config: "/etc/rivulet/config.yaml", level: .debug))
    }

    @Test func healthIsAskedOfTheConfiguredNode() throws {
        #expect(try AgentCommand(["--health"]) == .health(config: "/etc/rivulet/config.yaml"))
        #expect(try AgentCommand(["--config", "a.yaml", "--health"]) == .health(config: "a.yaml"))
    }

    @Test func aNodeThatSentNothingAndHasNobodyIsNotHealthy() {
        #expect(NodeHealth.text(sent: 1, neighbours: 0).hasPrefix(NodeHealth.good))
        #expect(NodeHealth.text(sent: 0, neighbours: 2).hasPrefix(NodeHealth.good))
        #expect(!NodeHealth.text(sent: 0, neighbours: 0).hasPrefix(NodeHealth.good))
        #expect(
            NodeHealth.text(sent: 1, neighbours: 1) == "healthy: 1 datagram sent, 1 neighbour")
    }

    @Test func helpAndVersionComeBeforeAllElse() throws {
        #expect(try AgentCommand(["--config", "x", "--help"]) == .help)
        #expect(try AgentCommand(["-h"]) == .help)
        #expect(try AgentCommand(["--version"]) == .version)
    }

    @Test(arguments: [
        ["--config"], ["--log-level", "loud"], ["x"], ["--conifg", "a"], ["-q", "-v"],
        ["--quiet", "--log-level=debug"],
    ])
    func aWrongCommandLineIsToldSo(arguments: [String]) {
        do throws(StartError) {
            _ = try AgentCommand(arguments)
            Issue.record("taken: \(arguments)")
        } catch {
            #expect(error.status == .usage)
        }
    }

    @Test func theNearestOptionIsNamed() {
        do throws(StartError) {
            _ = try AgentCommand(["--conifg"])
        } catch {
            #expect(error.description.contains("did you mean --config?"))
        }
    }
}
