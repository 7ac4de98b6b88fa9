import Configuration
import FailingFiles
import Glibc
import NearbyCore
import Testing

@testable import Setup

/// `rivulet init` and `rivulet join`, run as people run them.
@Suite struct InitTests {
    private func run(
        _ arguments: String..., input: String = "", killedAfter delay: UInt32? = nil
    ) throws -> RunProgram.Result {
        try RunProgram.run(arguments, input: input, killedAfter: delay)
    }

    private func settings(_ folder: String) throws -> Settings {
        let outcome = Settings.load(folder + "/config.yaml")
        guard case .good(let settings) = outcome else {
            Issue.record("\(outcome)")
            throw CancellationError()
        }
        return settings
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt32(status.st_mode) & 0o777 : 0
    }

    private func expect(
        _ result: RunProgram.Result, _ status: Int32, _ part: String,
        _ place: SourceLocation = #_sourceLocation
    ) {
        #expect(result.status == status, "\(result)", sourceLocation: place)
        #expect(result.errors.contains(part), "\(result)", sourceLocation: place)
    }

    // MARK: The first node

    @Test func aCollectorIsMadeAndItsLineNamesIt() throws {
        try withTemporaryDirectory { folder in
            let made = try run(
                "init", "--network", "greenhouse", "--role", "collector", "--name", "office",
                "--directory", folder + "/c")
            #expect(made.status == 0, "\(made)")
            let settings = try settings(folder + "/c")
            #expect(settings.role == .collector)
            #expect(settings.network == "greenhouse")
            #expect(settings.name == "office")
            let text = try #require(made.line)
            let line = try JoinLine(text: text)
            #expect(line.network == "greenhouse")
            #expect(line.secrets == settings.secrets)
            #expect(line.collectors.count == 1)
            #expect(mode(folder + "/c/secret") == 0o600)
            #expect(mode(folder + "/c/state") == 0o700)
            #expect(mode(folder + "/c/state/identity.pem") == 0o600)
            let good = try run("check", "--here", folder + "/c/config.yaml")
            #expect(good.status == 0, "\(good)")
            // Nothing that goes to a log has the secret in it.
            #expect(!made.errors.contains("rivulet1:") && !made.errors.contains("rvs1"))
        }
    }

    @Test func aSecondRunChangesNothingAndSaysWhatIsThere() throws {
        try withTemporaryDirectory { folder in
            let first = try run(
                "init", "--network", "n", "--role", "relay", "--directory", folder + "/a")
            let text = RunProgram.text(of: folder + "/a/config.yaml")
            let second = try run("init", "--directory", folder + "/a")
            expect(second, 0, "is there already: relay")
            #expect(second.output == first.output)
            #expect(RunProgram.text(of: folder + "/a/config.yaml") == text)
            let shown = try run("init", "--show", "--qr", "--directory", folder + "/a")
            #expect(shown.line == first.line)
            #expect(shown.output.contains("█"))
        }
    }

    @Test func whatIsThereIsReplacedOnlyWhenAsked() throws {
        try withTemporaryDirectory { folder in
            let place = folder + "/a"
            _ = try run("init", "--network", "n", "--role", "relay", "--directory", place)
            let (text, secret) = (
                RunProgram.text(of: place + "/config.yaml"), RunProgram.text(of: place + "/secret")
            )
            for change in [["--network", "m"], ["--role", "collector"], ["--name", "other"]] {
                let refused = try RunProgram.run(["init", "--yes", "--directory", place] + change)
                expect(refused, 73, "is there already: relay")
                #expect(RunProgram.text(of: place + "/config.yaml") == text)
            }
            let forced = try run(
                "init", "--network", "m", "--role", "relay", "--force", "--directory", place)
            expect(forced, 0, "kept the old")
            #expect(try settings(place).network == "m")
            #expect(RunProgram.text(of: place + "/config.yaml.bak") == text)
            // What was not asked for stays.
            let role = try run("init", "--role", "collector", "--force", "--directory", place)
            #expect(role.status == 0, "\(role)")
            #expect(try settings(place).network == "m")
            #expect(try settings(place).role == .collector)
            // A new name is no reason to lock all others out.
            #expect(RunProgram.text(of: place + "/secret") == secret)
        }
    }

    @Test func aGivenSecretIsTakenFromAFileOrStandardInput() throws {
        try withTemporaryDirectory { folder in
            let secret = Secret.text((0..<16).map { $0 })
            let given = try run(
                "init", "--network", "n", "--role", "relay", "--secret-file", "-", "--directory",
                folder + "/a", input: secret + "\n")
            #expect(given.status == 0, "\(given)")
            #expect(try settings(folder + "/a").secrets == [(0..<16).map { $0 }])
            let again = try run(
                "init", "--network", "n", "--role", "relay", "--secret-file",
                folder + "/a/secret", "--directory", folder + "/b")
            #expect(again.line == given.line)
            let wrong = try run(
                "init", "--network", "n", "--role", "relay", "--secret-file", "-", "--directory",
                folder + "/d", input: "rvs1-wrong")
            expect(wrong, 65, "checksum")
            #expect(access(folder + "/d", F_OK) != 0)
        }
    }

    @Test func wrongWishesChangeNothing() throws {
        try withTemporaryDirectory { folder in
            let place = folder + "/a"
            expect(
                try run("init", "--network", "Green", "--role", "agent", "--directory", place), 64,
                "network is 'Green'; it must be 1 to 15")
            expect(try run("init", "--directory", place), 64, "no terminal")
            expect(
                try run(
                    "init", "--network", "n", "--role", "agent", "--name",
                    String(repeating: "x", count: 64), "--directory", place), 64, "name")
            #expect(access(place, F_OK) != 0)
        }
    }

    @Test func aDamagedConfigurationIsLeftAlone() throws {
        try withTemporaryDirectory { folder in
            _ = try run("init", "--network", "n", "--role", "relay", "--directory", folder)
            let path = folder + "/config.yaml"
            let stream = try #require(fopen(path, "a"))
            fputs("nonsense: 1\n", stream)
            fclose(stream)
            let text = RunProgram.text(of: path)
            expect(try run("init", "--directory", folder), 78, "nonsense")
            #expect(RunProgram.text(of: path) == text)
        }
    }

    // MARK: The next node

    @Test func aLineMakesTheNextNode() throws {
        try withTemporaryDirectory { folder in
            let first = try run(
                "init", "--network", "n", "--role", "collector", "--directory", folder + "/c")
            let line = try #require(first.line)
            let joined = try run(
                "join", "--name", "north", "--directory", folder + "/a", input: line + "\n")
            #expect(joined.status == 0, "\(joined)")
            let settings = try settings(folder + "/a")
            #expect(settings.role == .agent)
            #expect(settings.name == "north")
            #expect(settings.collectors.count == 1)
            #expect(settings.sensors.count >= 1)
            // It passes on what it knows.
            #expect(joined.line == line)
            // A second collector is named beside the first.
            let second = try run(
                "join", "--role", "collector", "--directory", folder + "/d", input: line)
            let both = try JoinLine(text: try #require(second.line))
            #expect(both.collectors.count == 2)
            #expect(both.collectors.first == settings.collectors.first)
        }
    }

    @Test func aDamagedLineMakesNothing() throws {
        try withTemporaryDirectory { folder in
            let text = JoinLineTests.line.text
            let wrong = text.dropLast() + (text.hasSuffix("a") ? "b" : "a")
            expect(
                try run("join", "--directory", folder + "/a", input: String(wrong)), 65, "checksum")
            expect(
                try run("join", "--directory", folder + "/a", input: "hello"), 65, "begins with")
            expect(try run("join", "--directory", folder + "/a", input: ""), 65, "begins with")
            expect(
                try run("join", "--directory", folder + "/a", "--line-file", folder + "/no"), 66,
                "No such file")
            let long = String(repeating: "a", count: 1 << 20)
            expect(try run("join", "--directory", folder + "/a", input: long), 65, "longer than")
            #expect(access(folder + "/a", F_OK) != 0)
        }
    }

    @Test func anotherSecretIsReplacedOnlyWhenAsked() throws {
        try withTemporaryDirectory { folder in
            let place = folder + "/a"
            _ = try run("init", "--network", "greenhouse", "--role", "agent", "--directory", place)
            let old = RunProgram.text(of: place + "/secret")
            let line = JoinLineTests.line.text
            expect(
                try run("join", "--directory", place, input: line), 73, "Another secret was given")
            #expect(RunProgram.text(of: place + "/secret") == old)
            let forced = try run("join", "--force", "--directory", place, input: line)
            #expect(forced.status == 0, "\(forced)")
            #expect(try settings(place).secrets == JoinLineTests.line.secrets)
            #expect(RunProgram.text(of: place + "/secret.bak") == old)
            #expect(mode(place + "/secret.bak") == 0o600)
            #expect(
                try settings(place).udp.peers.map(\.text) == ["10.77.1.2:4577", "[fd00::5]:4577"])
        }
    }

    @Test func aSecretOnTheCommandLineIsRefusedAndNotRepeated() throws {
        let line = JoinLineTests.line.text
        let secret = Secret.text(Array(1...16))
        for arguments in [
            ["join", line], ["join", line.uppercased()], ["init", line], [line],
            ["join", "--line-file", line], ["init", "--secret-file", secret],
            ["join", "--line-file=" + line], ["nonsense", secret],
        ] {
            let refused = try RunProgram.run(arguments)
            expect(refused, 64, "Treat the secret as known to others")
            #expect(!(refused.errors + refused.output).contains(line.suffix(20)))
            #expect(!(refused.errors + refused.output).contains(secret.suffix(20)))
        }
    }

    // MARK: The terminal

    @Test func aTerminalIsAskedAndGetsTheCode() throws {
        try withTemporaryDirectory { folder in
            let made = try RunProgram.type(
                [
                    ("[y/N] ", ""), ("[rivulet]: ", "Wrong Name"), ("[rivulet]: ", "green"),
                    ("[agent]: ", "collector"), ("A name for this node", "office"),
                    ("collector office in network green? [Y/n] ", ""),
                ], ["init", "--directory", folder + "/c"])
            #expect(made.status == 0, "\(made)")
            #expect(made.output.contains("█") && made.line != nil)
            #expect(try settings(folder + "/c").name == "office")
            // The line, with a slip first.
            let line = try #require(made.line)
            let joined = try RunProgram.type(
                [
                    ("on a node of the network:", String(line.dropLast(3))),
                    ("checksum", line), ("[agent]: ", "relay"), ("A name for this node", "barn"),
                    ("[Y/n] ", "y"),
                ], ["join", "--directory", folder + "/r"])
            #expect(joined.status == 0, "\(joined)")
            #expect(try settings(folder + "/r").role == .relay)
            #expect(try settings(folder + "/r").secrets == settings(folder + "/c").secrets)
        }
    }

    @Test func aTerminalThatSaysNoChangesNothing() throws {
        try withTemporaryDirectory { folder in
            let refused = try RunProgram.type(
                [("[y/N] ", "n"), (": ", ""), (": ", ""), (": ", ""), ("[Y/n] ", "n")],
                ["init", "--directory", folder + "/a"])
            #expect(refused.output.contains("nothing was changed"))
            // Ctrl-D
            let ended = try RunProgram.type(
                [("[y/N] ", "\u{4}")], ["init", "--directory", folder + "/a"])
            #expect(ended.output.contains("nothing was changed"), "\(ended)")
            #expect(access(folder + "/a", F_OK) != 0)
        }
    }

    // MARK: Power cuts

    @Test func killedAtAnyMomentItLeavesNothingOrSomethingValid() throws {
        var generator = SeededGenerator(seed: 11)
        var killed = 0
        for _ in 0..<30 {
            try withTemporaryDirectory { folder in
                let arguments = ["init", "--network", "n", "--role", "collector", "--directory"]
                let cut = try RunProgram.run(
                    arguments + [folder + "/c"],
                    killedAfter: UInt32.random(in: 0...40_000, using: &generator))
                if cut.status == 128 + SIGKILL { killed += 1 }
                let wasThere = access(folder + "/c/config.yaml", F_OK) == 0
                if wasThere { _ = try settings(folder + "/c") }
                let secret = RunProgram.text(of: folder + "/c/secret")
                let second = try RunProgram.run(arguments + [folder + "/c"])
                #expect(second.status == 0, "\(second)")
                #expect(try settings(folder + "/c").role == .collector)
                // What was made first is not made again.
                if !secret.isEmpty {
                    #expect(RunProgram.text(of: folder + "/c/secret") == secret)
                }
                let rest = names(in: folder + "/c").filter { $0.hasSuffix(".tmp") }
                #expect(rest == [] || rest == ["config.yaml.tmp"], "\(rest)")
            }
        }
        #expect(killed >= 10, "only \(killed) were killed in time")
    }
}
