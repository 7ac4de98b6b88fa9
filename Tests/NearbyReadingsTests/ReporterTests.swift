import Foundation
import Nearby
import Telemetry
import Testing

@testable import NearbyReadings

@Suite struct ReporterTests {
    private static func network() throws -> Service {
        try Service(network: "lab", secrets: [[UInt8](repeating: 7, count: 16)])
    }

    @Test func aNumberHasTheDecimalsItIsPrintedWith() {
        func text(_ value: Double) -> String? { Outcome(value).value?.description }
        #expect(text(21.5) == "21.5")
        #expect(text(3) == "3")
        #expect(text(-0.1) == "-0.1")
        #expect(text(1e-7) == "0.0000001")
    }

    @Test func whatIsNoNumberIsNullWithAReason() {
        #expect(Outcome(nil) == .null(.unspecified))
        #expect(Outcome(.nan) == .null(.malformed))
        #expect(Outcome(.infinity) == .null(.malformed))
        #expect(Outcome(1e300) == .null(.outOfRange))
    }

    @Test func readingsWaitWhileThereIsNoCollector() async throws {
        let reporter = try Reporter(peer: Peer(displayName: "bench"), network: Self.network())
        for value in 1...100 {
            try await reporter.report(Double(value), unit: "Cel", as: "temperature")
        }
        #expect(await reporter.waitingCount == 100)
        await reporter.finish()
        #expect(await reporter.waitingCount == 100)
    }

    @Test(arguments: [("", "Cel"), ("two\nlines", "Cel"), ("temperature", "a unit")])
    func aChannelThatCannotBeCarriedIsRefused(_ channel: String, _ unit: String) async throws {
        let reporter = try Reporter(peer: Peer(displayName: "bench"), network: Self.network())
        await #expect(throws: NearbyError.self) {
            try await reporter.report(1, unit: unit, as: channel)
        }
        #expect(await reporter.waitingCount == 0)
    }

    @Test func labelsThatCannotBeCarriedAreRefused() throws {
        let labels = ["site": String(repeating: "x", count: 256)]
        #expect(throws: NearbyError.self) {
            try Reporter(peer: Peer(displayName: "bench"), network: Self.network(), labels: labels)
        }
    }

    /// A peer may be called what a node may not: the readings come under a plain name.
    @Test func aPeersNameIsMadePlain() throws {
        let settings = try Telemeter.Settings.ofProgram(
            named: "Anna\u{1b}[2J\nB\u{202e}", labels: [:], wait: .zero)
        #expect(settings.node.name == "Anna [2J B ")
        #expect(throws: NearbyError.self) {
            try Telemeter.Settings.ofProgram(named: "n", labels: ["k": "a\u{0}b"], wait: .zero)
        }
    }

    @Test func aSecretFileSaysWhatIsWrongWithIt() throws {
        let path = NSTemporaryDirectory() + "secret-\(UInt64.random(in: 0...UInt64.max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: NearbyError.self) { try Service(network: "lab", secretFile: path) }
        _ = FileManager.default.createFile(
            atPath: path, contents: Data("no secret\n".utf8), attributes: [.posixPermissions: 0o600]
        )
        do throws(NearbyError) {
            _ = try Service(network: "lab", secretFile: path)
            Issue.record("it was taken")
        } catch {
            #expect(error.code == .invalidParameter)
            #expect(error.description.contains("line 1: not a secret"))
        }
    }
}
